import { ActionError, type ActionErrorCode, type ActionProblem } from '../../../lib/errors.ts'
import type { Template } from '../../../vision/embed/template.ts'
import type { FaceResult, ImageAnalysis } from '../../../vision/image-analysis.ts'
import type { EncodedImage } from '../../../vision/image/input/encoded-image.ts'
import type { ChallengeFacts } from '../../../vision/liveness/challenge/challenge.ts'
import type { ActionCall } from '../../action.ts'
import { findFaces, type FaceParams } from '../extract-probes.ts'
import { reserveImages } from '../reserve-images.ts'

/** One frame of a response to a challenge, with its only face. */
export type AnalyzedFrame = {
  readonly analysis: ImageAnalysis
  readonly face: FaceResult
  readonly template: Template
  readonly facts: ChallengeFacts
}

/** The problem of a frame without exactly one usable face. The challenge has then failed. */
export type RejectedFrame = ActionProblem

type FramesCall = Pick<ActionCall<FramesParams>, 'caller' | 'services' | 'signal' | 'params'>
type FramesParams = FaceParams & { readonly images: readonly EncodedImage[] }

/** The errors of the face of a frame. Errors of an image that cannot be decoded are not among them. */
const faceErrorCodes: ReadonlySet<ActionErrorCode> = new Set([
  'NO_FACE_FOUND',
  'MULTIPLE_FACES',
  'FACE_TOO_SMALL',
  'LOW_QUALITY',
])

/**
 * Analyzes all frames: the first one with the passive networks, the others with the fast templates
 * that suffice to compare frames of one recording.
 *
 * @returns the frames, or the first frame without exactly one usable face.
 * @throws ActionError if an image cannot be analyzed. @throws HttpError 503 if there is no room.
 */
export async function analyzeFrames(
  call: FramesCall,
): Promise<readonly AnalyzedFrame[] | RejectedFrame> {
  const { images } = call.params
  using reserved = reserveImages(call, images)
  const results = await Promise.all(
    images.map((image, index) => analyzeFrame(reserved, image, index)),
  )
  const frames: AnalyzedFrame[] = []
  for (const result of results) {
    if ('code' in result) return result
    frames.push(result)
  }
  return frames
}

async function analyzeFrame(
  call: FramesCall,
  image: EncodedImage,
  index: number,
): Promise<AnalyzedFrame | RejectedFrame> {
  const isFrontal = index === 0
  // A turned head has a lower quality. The limit of the request is for the frontal frame.
  const minQuality = isFrontal ? call.params.minQuality : 0
  const params = { ...call.params, facePolicy: 'single', minQuality } as const
  try {
    const { analysis, faces } = await findFaces({ ...call, params }, image, index, {
      challenge: true,
      ...(isFrontal ? { templates: true, liveness: true } : { templates: 'fast' }),
    })
    const [face] = faces
    const { template, challenge: facts } = face
    if (!template || !facts) throw new Error('the analysis contains no challenge measurements')
    return { analysis, face, template, facts }
  } catch (error) {
    if (!(error instanceof ActionError) || !faceErrorCodes.has(error.code)) throw error
    const message = `params.images[${index}]: ${error.message}`
    return { code: error.code, message, imageIndex: index }
  }
}
