import { cohortDensity } from '../../lib/density/cohort-density.ts'
import { builtinPack } from '../../models/builtin/builtin-pack.ts'
import type { ModelSet } from '../../models/model-set.ts'
import { readTemplateModel } from '../../models/template/template-model.ts'
import { formatProviders } from '../model-sessions.ts'
import type { ModelSessions } from '../model-sessions.ts'
import { sampleAlignedCrops } from './aligned-crops.ts'
import { createTemplate as createTemplateWithModel } from './create-template.ts'
import { embed, embedWithoutMirror } from './embed.ts'
import type { NetworkEmbeddings } from './embed.ts'
import { openInstalledRecognizer } from './installed-recognizer.ts'
import type { EarlierVersion, Recognizer } from './recognizer.ts'
import type { Template } from './template.ts'

export type Recognizers = {
  /** Creates the templates that are stored from now on. */
  readonly active: Recognizer
  /** The recognizers of previous models and of earlier versions, by `modelId`. */
  readonly previous: ReadonlyMap<string, PreviousRecognizer>
}

export type PreviousRecognizer = {
  readonly recognizer: Recognizer
  /** Undefined for the model of the recognizer itself. */
  readonly earlierVersion?: EarlierVersion
}

/** Creates a template from embeddings. Scripts that fit another model pass their own function. */
export type CreateTemplate = (embeddings: NetworkEmbeddings) => Template

/** @param createTemplate of the built-in recognizer; default: with the shipped template model. */
export async function openRecognizers(
  { recognizer, formerRecognizers }: Pick<ModelSet, 'recognizer' | 'formerRecognizers'>,
  sessions: ModelSessions,
  createTemplate?: CreateTemplate,
): Promise<Recognizers> {
  const open = (choice: ModelSet['recognizer']): Promise<Recognizer> =>
    choice === 'builtin'
      ? openBuiltinRecognizer(sessions, createTemplate)
      : openInstalledRecognizer(choice, sessions)
  const former = await Promise.all(formerRecognizers.map(open))
  const active = await open(recognizer)
  const previous = new Map<string, PreviousRecognizer>()
  for (const opened of [active, ...former])
    for (const earlierVersion of opened.earlierVersions)
      previous.set(earlierVersion.modelId, { recognizer: opened, earlierVersion })
  for (const opened of former) previous.set(opened.modelId, { recognizer: opened })
  return { active, previous }
}

async function openBuiltinRecognizer(
  sessions: ModelSessions,
  createTemplate?: CreateTemplate,
): Promise<Recognizer> {
  const model = await readTemplateModel()
  const toTemplate: CreateTemplate =
    createTemplate ?? ((embeddings) => createTemplateWithModel(embeddings, model))
  const earlierVersions = model.earlier.map(({ modelId, ...cohort }): EarlierVersion => ({
    modelId,
    fromTemplate: ({ vector }) => ({ modelId, vector, density: cohortDensity(vector, cohort) }),
  }))
  const networks = {
    dlib: await sessions.openBuiltin('face_recognition'),
    faceres: await sessions.openBuiltin('faceres'),
  }
  return {
    modelId: model.modelId,
    providers: formatProviders([builtinPack.models.face_recognition, builtinPack.models.faceres]),
    // Another template function has other vectors.
    earlierVersions: createTemplate ? [] : earlierVersions,
    async createTemplate({ mesh }, { pyramid, stopwatch }, { withoutMirror = false } = {}) {
      const crops = await stopwatch.time('align', () => sampleAlignedCrops(pyramid, mesh))
      const embedFace = withoutMirror ? embedWithoutMirror : embed
      return stopwatch.time('embed', async () => toTemplate(await embedFace(networks, crops)))
    },
  }
}
