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
import type { Recognizer } from './recognizer.ts'
import type { Template } from './template.ts'

export type Recognizers = {
  /** Creates the templates that are stored from now on. */
  readonly active: Recognizer
  /** The recognizers of previous models, by `modelId`. */
  readonly previous: ReadonlyMap<string, Recognizer>
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
  const previous = await Promise.all(formerRecognizers.map(open))
  return {
    active: await open(recognizer),
    previous: new Map(previous.map((opened) => [opened.modelId, opened])),
  }
}

async function openBuiltinRecognizer(
  sessions: ModelSessions,
  createTemplate?: CreateTemplate,
): Promise<Recognizer> {
  const model = await readTemplateModel()
  const toTemplate: CreateTemplate =
    createTemplate ?? ((embeddings) => createTemplateWithModel(embeddings, model))
  const networks = {
    dlib: await sessions.openBuiltin('face_recognition'),
    faceres: await sessions.openBuiltin('faceres'),
  }
  return {
    modelId: model.modelId,
    providers: formatProviders([builtinPack.models.face_recognition, builtinPack.models.faceres]),
    async createTemplate({ mesh }, { pyramid, stopwatch }, { withoutMirror = false } = {}) {
      const crops = await stopwatch.time('align', () => sampleAlignedCrops(pyramid, mesh))
      const embedFace = withoutMirror ? embedWithoutMirror : embed
      return stopwatch.time('embed', async () => toTemplate(await embedFace(networks, crops)))
    },
  }
}
