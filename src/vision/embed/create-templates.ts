import type { AnalysisRequest, FaceResult } from '../image-analysis.ts'
import type { DetectedFace, ImageContext } from '../image-context.ts'
import type { Recognizers } from './open-recognizers.ts'
import type { Recognizer } from './recognizer.ts'
import type { Template } from './template.ts'

/**
 * Creates the requested templates of a face. Each recognizer runs at most once: the template of an
 * earlier version has the vector of the later one and another density.
 */
export async function createTemplates(
  { active, previous }: Recognizers,
  face: DetectedFace,
  context: ImageContext,
  request: Pick<AnalysisRequest, 'templates' | 'previousTemplates'>,
): Promise<Pick<FaceResult, 'template' | 'previousTemplates'>> {
  const created = new Map<Recognizer, Template>()
  const options = { withoutMirror: request.templates === 'fast' }
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
  }
}
