import { builtinPack } from '../../models/builtin/builtin-pack.ts'
import type { ModelSet } from '../../models/model-set.ts'
import { readTemplateModel } from '../../models/template/template-model.ts'
import { formatProviders, type ModelSessions } from '../model-sessions.ts'
import { sampleDlibCrop, sampleFaceresCrop } from './aligned-crops.ts'
import {
  type CreateTemplate,
  embedWithDlib,
  embedWithFaceres,
  openInstalledRecognizer,
  openTemplateCreator,
} from './create-template.ts'
import { combineRecognizers } from './combine-recognizers.ts'
import { certainSimilarity } from './quick-match.ts'
import type { Recognizer, StartTemplate } from './recognizer.ts'
import type { AnalysisRequest } from '../image-analysis.ts'
import type { DetectedFace, ImageContext } from '../image-context.ts'
import type { Template } from './template.ts'

export type Recognizers = Awaited<ReturnType<typeof openRecognizers>>

/**
 * @param createTemplate of the built-in recognizer; default: with the shipped template model. Scripts
 *   that fit another model pass their own function.
 */
export async function openRecognizers(
  { recognizer, formerRecognizers }: Pick<ModelSet, 'recognizer' | 'formerRecognizers'>,
  sessions: ModelSessions,
  createTemplate?: CreateTemplate,
) {
  const open = async (choice: ModelSet['recognizer']): Promise<Recognizer> => {
    if (choice === 'builtin') return openBuiltinRecognizer(sessions, createTemplate)
    const installed = await openInstalledRecognizer(choice, sessions)
    if (!choice.withBuiltin) return installed
    return combineRecognizers(await openBuiltinRecognizer(sessions, createTemplate), installed)
  }
  const former = await Promise.all(formerRecognizers.map(open))
  /** Creates the templates that are stored from now on. */
  const active = await open(recognizer)
  /** The recognizers of previous models, by `modelId`. */
  const previous = new Map(former.map((opened) => [opened.modelId, opened]))
  return { active, previous }
}

async function openBuiltinRecognizer(
  sessions: ModelSessions,
  createTemplate?: CreateTemplate,
): Promise<Recognizer> {
  const model = await readTemplateModel()
  const toTemplate = createTemplate ?? openTemplateCreator(model)
  const startTemplate = await openTemplateStart(sessions, toTemplate)
  return {
    modelId: model.modelId,
    async createTemplate(face, context, options) {
      const { complete } = await startTemplate(face, context, options)
      return complete()
    },
    startTemplate,
  }
}

/** The quick template is the embedding of dlib, which takes a third of the time. */
async function openTemplateStart(
  sessions: ModelSessions,
  toTemplate: CreateTemplate,
): Promise<StartTemplate> {
  const modelId = formatProviders([builtinPack.models.face_recognition])
  const dlib = await sessions.openBuiltin('face_recognition')
  const faceres = await sessions.openBuiltin('faceres')
  return async ({ mesh }, { pyramid, stopwatch }, { withoutMirror = false } = {}) => {
    const dlibCrop = await stopwatch.time('align', () => sampleDlibCrop(pyramid, mesh))
    const vector = await stopwatch.time('embed', () => embedWithDlib(dlib, dlibCrop, withoutMirror))
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
  }
}

type TemplateRequest = Pick<
  AnalysisRequest,
  'templates' | 'previousTemplates' | 'quickTemplates' | 'samePersonAs'
>

/**
 * Creates the requested templates of a face. Each recognizer runs at most once. A face that is
 * certainly the person of `samePersonAs` has no template.
 */
export async function createTemplates(
  { active, previous }: Recognizers,
  face: DetectedFace,
  context: ImageContext,
  request: TemplateRequest,
) {
  const options = { withoutMirror: request.templates === 'fast' }
  const { templates, quickTemplates, samePersonAs } = request
  const needsQuick = templates && (quickTemplates === true || samePersonAs !== undefined)
  const started = needsQuick ? await active.startTemplate?.(face, context, options) : undefined
  const similarity =
    started && samePersonAs && certainSimilarity(started.quickTemplate, samePersonAs)
  const quick = request.quickTemplates && started && { quickTemplate: started.quickTemplate }
  if (similarity !== undefined) return { certainSimilarity: similarity, ...quick }
  const create = (recognizer: Recognizer) => recognizer.createTemplate(face, context, options)
  const template = request.templates ? await (started?.complete() ?? create(active)) : undefined
  const previousTemplates: Template[] = []
  for (const modelId of request.previousTemplates ?? []) {
    const recognizer = previous.get(modelId)
    if (recognizer) previousTemplates.push(await create(recognizer))
  }
  return {
    ...(template && { template }),
    ...(request.previousTemplates && { previousTemplates }),
    ...quick,
  }
}
