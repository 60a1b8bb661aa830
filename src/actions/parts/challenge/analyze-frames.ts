import { ActionError, type ActionProblem } from '../../../lib/errors.ts'
import type { Template } from '../../../vision/embed/template.ts'
import type { AnalysisRequest, FaceResult, ImageAnalysis } from '../../../vision/image-analysis.ts'
import type { EncodedImage } from '../../../vision/image/input/encoded-image.ts'
import type { ChallengeFacts } from '../../../vision/liveness/challenge/challenge-judgement.ts'
import { findFaces, reserveImages, type ExtractCall, type FaceParams } from '../extract-probes.ts'
import { extractOrRefuse, requireUsable } from '../pictures/extract-pictures.ts'

/** One frame of a response to a challenge, with its only face. */
export type AnalyzedFrame = {
  readonly analysis: ImageAnalysis
  readonly face: FaceResult
  readonly facts: ChallengeFacts
}

/** The first frame is compared with all others. */
export type ReferenceFrame = AnalyzedFrame & { readonly template: Template }

export type AnalyzedFrames = {
  readonly frontal: ReferenceFrame
  /** Each has a template, unless it is certainly of the person of the frontal frame. */
  readonly others: readonly AnalyzedFrame[]
}

/** The problem of a frame without exactly one usable face. The challenge has then failed. */
export type RejectedFrame = ActionProblem

type FramesCall = ExtractCall<FaceParams & { readonly images: readonly EncodedImage[] }>

/**
 * The errors of a frame without exactly one usable face: the attempt has failed. Errors of an image
 * that cannot be decoded are not among them.
 */
export const faceErrorCodes: ReadonlySet<string> = new Set([
  'NO_FACE_FOUND',
  'MULTIPLE_FACES',
  'FACE_TOO_SMALL',
  'LOW_QUALITY',
])

/**
 * Analyzes all frames: first the frontal one with the passive networks, then the others together. A
 * frame that is certainly of the same person by a quick comparison has no template, the others have a
 * fast one.
 *
 * @returns the frames, or the first frame without exactly one usable face.
 * @throws ActionError if an image cannot be analyzed. @throws HttpError 503 if there is no room.
 */
export async function analyzeFrames(call: FramesCall): Promise<AnalyzedFrames | RejectedFrame> {
  const { images } = call.params
  using reserved = reserveImages(call, images)
  const [image, ...otherImages] = images
  if (!image) throw new Error('a challenge has no frontal frame')
  const analyze = (frame: EncodedImage, index: number, options: Partial<AnalysisRequest>) =>
    extractOrRefuse(index, () => analyzeFrame(reserved, frame, index, options))
  const frontal = { templates: true, quickTemplates: true, liveness: true } as const
  const analyzed = await analyze(image, 0, frontal)
  const samePersonAs = 'face' in analyzed ? analyzed.face.quickTemplate : undefined
  const options = { templates: 'fast', quickTemplates: true, samePersonAs } as const
  // The images are analyzed even without a frontal face: one that cannot be decoded is an error.
  const results = requireUsable([
    analyzed,
    ...(await Promise.all(otherImages.map((other, index) => analyze(other, index + 1, options)))),
  ])
  const frames: AnalyzedFrame[] = []
  for (const result of results) {
    if ('code' in result) return result
    frames.push(result)
  }
  const [first, ...others] = frames
  if (!first) throw new Error('a challenge has no frontal frame')
  const { template } = first.face
  if (!template) throw new Error('the analysis contains no template')
  return { frontal: { ...first, template }, others }
}

async function analyzeFrame(
  call: FramesCall,
  image: EncodedImage,
  index: number,
  options: Partial<AnalysisRequest>,
): Promise<AnalyzedFrame | RejectedFrame> {
  // A turned head has a lower quality. The limit of the request is for the frontal frame.
  const minQuality = index === 0 ? call.params.minQuality : 0
  const params = { ...call.params, facePolicy: 'single', minQuality } as const
  try {
    const { analysis, faces } = await findFaces({ ...call, params }, image, index, {
      challenge: true,
      ...options,
    })
    const [face] = faces
    const { challenge: facts } = face
    if (!facts) throw new Error('the analysis contains no challenge measurements')
    return { analysis, face, facts }
  } catch (error) {
    if (!(error instanceof ActionError) || !faceErrorCodes.has(error.code)) throw error
    const message = `params.images[${index}]: ${error.message}`
    return { code: error.code, message, imageIndex: index }
  }
}
