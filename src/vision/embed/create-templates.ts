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
 * Creates the requested templates of a face. Each recognizer runs at most once: the template of an
 * earlier version has the vector of the later one and another density. A face that is certainly the
 * person of `samePersonAs` has no template.
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
  const created = new Map<Recognizer, Template>()
  if (started) created.set(active, await started.complete())
  const createOnce = async (recognizer: Recognizer): Promise<Template> => {
    const template =
      created.get(recognizer) ?? (await recognizer.createTemplate(face, context, options))
    created.set(recognizer, template)
    return template
  }
  const template = request.templates ? await createOnce(active) : undefined
  const previousTemplates: Template[] = []
  for (const modelId of request.previousTemplates ?? []) {
    const source = previous.get(modelId)
    if (!source) continue
    const { recognizer, earlierVersion } = source
    const own = await createOnce(recognizer)
    previousTemplates.push(earlierVersion ? earlierVersion.fromTemplate(own) : own)
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
