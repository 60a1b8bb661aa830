import { builtinPack } from '../../models/builtin/builtin-pack.ts'
import type { ModelSet } from '../../models/model-set.ts'
import { readTemplateModel } from '../../models/template/template-model.ts'
import { sampleAlignedCrops } from './aligned-crops.ts'
import { embed } from './embed.ts'
import type { NetworkEmbeddings } from './embed.ts'
import { openInstalledRecognizer } from './installed-recognizer.ts'
import type { DetectedFace, ImageContext } from '../image-context.ts'
import { formatProviders } from '../model-sessions.ts'
import type { ModelSessions } from '../model-sessions.ts'
import { createTemplate } from './create-template.ts'
import type { Template } from '../image-analysis.ts'

/** Makes templates of faces, all of one model. */
export type Recognizer = {
  /** "id@version" of its templates; the built-in's are of several networks. */
  readonly modelId: string
  /** "id@version" of the networks. */
  readonly providers: string
  readonly createTemplate: (face: DetectedFace, scene: ImageContext) => Promise<Template>
}

export type Recognizers = {
  /** Makes the templates that are stored from now on. */
  readonly active: Recognizer
  /** Those of older templates, by `modelId`. */
  readonly former: ReadonlyMap<string, Recognizer>
}

/** What becomes of a descriptor: the shipped model's `templateOf`, or what a script wants to see. */
export type CreateTemplate = (descriptor: NetworkEmbeddings) => Template

/** @param toTemplate of the built-in recognizer; without it the shipped model's. */
export async function openRecognizers(
  { recognizer, formerRecognizers }: Pick<ModelSet, 'recognizer' | 'formerRecognizers'>,
  sessions: ModelSessions,
  toTemplate?: CreateTemplate,
): Promise<Recognizers> {
  const open = (choice: ModelSet['recognizer']): Promise<Recognizer> =>
    choice === 'builtin'
      ? openBuiltinRecognizer(sessions, toTemplate)
      : openInstalledRecognizer(choice, sessions)
  const former = await Promise.all(formerRecognizers.map(open))
  return {
    active: await open(recognizer),
    former: new Map(former.map((known) => [known.modelId, known])),
  }
}

async function openBuiltinRecognizer(
  sessions: ModelSessions,
  toTemplate?: CreateTemplate,
): Promise<Recognizer> {
  const model = await readTemplateModel()
  const make: CreateTemplate = toTemplate ?? ((descriptor) => createTemplate(descriptor, model))
  const networks = {
    dlib: await sessions.openBuiltin('face_recognition'),
    faceres: await sessions.openBuiltin('faceres'),
  }
  return {
    modelId: model.modelId,
    providers: formatProviders([builtinPack.models.face_recognition, builtinPack.models.faceres]),
    async createTemplate({ mesh }, { pyramid, stopwatch: watch }) {
      const chips = await watch.time('align', () => sampleAlignedCrops(pyramid, mesh))
      return watch.time('embed', async () => make(await embed(networks, chips)))
    },
  }
}
