import type { AnalysisRequest, FaceResult } from '../image-analysis.ts'
import type { DetectedFace, ImageContext } from '../image-context.ts'
import type { Recognizers } from './open-recognizers.ts'
import type { Recognizer, StartedTemplate } from './recognizer.ts'
import type { Template } from './template.ts'

type TemplateRequest = Pick<
  AnalysisRequest,
  'templates' | 'previousTemplates' | 'quickTemplates' | 'samePersonAs'
>
type CreatedTemplates = Pick<
  FaceResult,
  'template' | 'previousTemplates' | 'quickTemplate' | 'certainSimilarity'
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
): Promise<CreatedTemplates> {
  const options = { withoutMirror: request.templates === 'fast' }
  const started = needsQuickTemplate(request)
    ? await active.quick?.startTemplate(face, context, options)
    : undefined
  const similarity = certainSimilarity(active, started, request)
  if (similarity !== undefined) return { certainSimilarity: similarity }
  const create = (recognizer: Recognizer): Promise<Template> =>
    recognizer.createTemplate(face, context, options)
  const template = request.templates ? await (started?.complete() ?? create(active)) : undefined
  const previousTemplates: Template[] = []
  for (const modelId of request.previousTemplates ?? []) {
    const recognizer = previous.get(modelId)
    if (recognizer) previousTemplates.push(await create(recognizer))
  }
  return {
    ...(template && { template }),
    ...(request.previousTemplates && { previousTemplates }),
    ...(request.quickTemplates && started && { quickTemplate: started.quickTemplate }),
  }
}

function needsQuickTemplate({ templates, quickTemplates, samePersonAs }: TemplateRequest): boolean {
  return Boolean(templates) && (quickTemplates === true || samePersonAs !== undefined)
}

function certainSimilarity(
  { quick }: Recognizer,
  started: StartedTemplate | undefined,
  { samePersonAs }: TemplateRequest,
): number | undefined {
  if (!quick || !started || !samePersonAs) return undefined
  return quick.certainSimilarity(started.quickTemplate, samePersonAs)
}
