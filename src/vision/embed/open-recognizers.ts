import { builtinPack } from '../../models/builtin/builtin-pack.ts'
import type { ModelSet } from '../../models/model-set.ts'
import { readTemplateModel } from '../../models/template/template-model.ts'
import { formatProviders, type ModelSessions } from '../model-sessions.ts'
import { sampleDlibCrop, sampleFaceresCrop } from './aligned-crops.ts'
import {
  openTemplateCreator,
  type CreateTemplate,
  embedWithDlib,
  embedWithFaceres,
} from './create-template.ts'
import { openInstalledRecognizer } from './installed-recognizer.ts'
import { certainSimilarity } from './quick-match.ts'
import type { QuickRecognizer, Recognizer } from './recognizer.ts'

export type Recognizers = {
  /** Creates the templates that are stored from now on. */
  readonly active: Recognizer
  /** The recognizers of previous models, by `modelId`. */
  readonly previous: ReadonlyMap<string, Recognizer>
}

/**
 * @param createTemplate of the built-in recognizer; default: with the shipped template model. Scripts
 *   that fit another model pass their own function.
 */
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
  return { active, previous: new Map(former.map((opened) => [opened.modelId, opened])) }
}

async function openBuiltinRecognizer(
  sessions: ModelSessions,
  createTemplate?: CreateTemplate,
): Promise<Recognizer> {
  const model = await readTemplateModel()
  const toTemplate = createTemplate ?? openTemplateCreator(model)
  const quick = await openQuickRecognizer(sessions, toTemplate)
  return {
    modelId: model.modelId,
    providers: formatProviders([builtinPack.models.face_recognition, builtinPack.models.faceres]),
    async createTemplate(face, context, options) {
      const { complete } = await quick.startTemplate(face, context, options)
      return complete()
    },
    quick,
  }
}

/** The quick template is the embedding of dlib, which takes a third of the time. */
async function openQuickRecognizer(
  sessions: ModelSessions,
  toTemplate: CreateTemplate,
): Promise<QuickRecognizer> {
  const modelId = formatProviders([builtinPack.models.face_recognition])
  const dlib = await sessions.openBuiltin('face_recognition')
  const faceres = await sessions.openBuiltin('faceres')
  return {
    certainSimilarity,
    async startTemplate({ mesh }, { pyramid, stopwatch }, { withoutMirror = false } = {}) {
      const dlibCrop = await stopwatch.time('align', () => sampleDlibCrop(pyramid, mesh))
      const vector = await stopwatch.time('embed', () =>
        embedWithDlib(dlib, dlibCrop, withoutMirror),
      )
      return {
        quickTemplate: { modelId, vector },
        async complete() {
          const crop = await stopwatch.time('align', () => sampleFaceresCrop(pyramid, mesh))
          return stopwatch.time('embed', async () =>
            toTemplate({
              dlib: vector,
              faceres: await embedWithFaceres(faceres, crop, withoutMirror),
            }),
          )
        },
      }
    },
  }
}
