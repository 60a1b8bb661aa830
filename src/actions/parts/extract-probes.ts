import { isDeepStrictEqual } from 'node:util'
import { ActionError } from '../../lib/errors.ts'
import type { AnalysisRequest, FaceResult, ImageAnalysis } from '../../vision/image-analysis.ts'
import type { EncodedImage } from '../../vision/image/input/encoded-image.ts'
import type { Template } from '../../vision/embed/template.ts'
import type { ActionCall } from '../action.ts'
import type { FacePolicy } from '../schemas/fields.ts'
import { classifyLiveness, type LivenessFace } from './classify-liveness.ts'
import { countMainFaces } from './main-faces.ts'
import { lowScoreReasons } from './quality-reasons.ts'

/** A face that can be compared with others. */
export type ProbeFace = FaceResult & {
  readonly template: Template
  /** The templates of the face, one per model; the first is of the active model. */
  readonly probes: readonly Template[]
}

/** What to extract in addition to templates of the active model. */
export type ExtractOptions = {
  /** The previous models that also create a template of each face. */
  readonly previousTemplates?: readonly string[]
  /** Whether to extract a crop from which later models can create templates. */
  readonly contextCrops?: boolean
}

/** The probes of one image: at least one face, the largest first. */
export type ExtractedProbes = {
  readonly analysis: ImageAnalysis
  readonly faces: readonly [ProbeFace, ...ProbeFace[]]
}

export type FaceParams = {
  readonly minFaceConfidence: number
  readonly minFaceSize: number
  readonly facePolicy: FacePolicy
  readonly minQuality: number
  readonly maxFaces?: number
}

export type ProbeParams = FaceParams & {
  readonly requireLiveness: boolean
  /** By default the threshold of the liveness models. */
  readonly livenessThreshold?: number | undefined
}

/** The position of an image in the request, for error messages. */
type ImagePosition = { readonly imageIndex: number }

/** The part of a call that extracts faces. */
export type ExtractCall<Options> = Pick<
  ActionCall<Options>,
  'caller' | 'services' | 'signal' | 'params'
>

/**
 * Extracts the faces to compare from an image.
 *
 * If liveness is required, the largest face must be live, and other faces that are not live are
 * ignored, as faces of low quality are.
 *
 * @param index index of the image in the request, for error messages.
 * @throws ActionError NO_FACE_FOUND, FACE_TOO_SMALL, MULTIPLE_FACES, LOW_QUALITY, LIVENESS_FAILED,
 *   and the errors of an image that cannot be analyzed.
 */
export async function extractProbes(
  call: ExtractCall<ProbeParams> & { readonly extract?: ExtractOptions },
  image: EncodedImage,
  index: number,
): Promise<ExtractedProbes> {
  const { params } = call
  const { analysis, faces } = await findFaces(call, image, index, {
    templates: true,
    liveness: params.requireLiveness,
    ...call.extract,
  })
  const [largest, ...others] = faces.map(toProbeFace)
  if (!largest) throw new Error('the analysis has lost its largest face')
  if (params.requireLiveness) requireLive(largest, analysis, { ...params, imageIndex: index })
  const isLive = (face: ProbeFace): boolean =>
    !params.requireLiveness || classifyFace(face, analysis, params).live
  const isAccepted = (face: ProbeFace) => hasQuality(face, params.minQuality) && isLive(face)
  return { analysis, faces: [largest, ...others.filter(isAccepted)] }
}

/**
 * Finds the faces of an image that are large enough, the largest first; only the largest if the
 * policy accepts one face. The largest has the required quality; the others can have any quality.
 *
 * @param options what else to analyze.
 * @throws ActionError as `extractProbes`, except LIVENESS_FAILED.
 */
export async function findFaces(
  call: ExtractCall<FaceParams>,
  image: EncodedImage,
  index: number,
  options: Partial<AnalysisRequest>,
): Promise<{
  readonly analysis: ImageAnalysis
  readonly faces: readonly [FaceResult, ...FaceResult[]]
}> {
  const { params } = call
  const { minFaceConfidence, minFaceSize, maxFaces = 1, facePolicy } = params
  const request = {
    minFaceConfidence,
    minFaceSizePx: minFaceSize,
    // Counts faces of any size, so that NO_FACE_FOUND and FACE_TOO_SMALL need no second analysis.
    countMinimums: { minFaceConfidence, minFaceSizePx: 1, onlyIfNoFace: true },
    maxFaces: facePolicy === 'largest' ? maxFaces : 1,
    crops: false,
    ...options,
  }
  const analysis = await analyzeImage(call, image, index, request)
  const [largest, ...others] = analysis.faces
  if (!largest) {
    const location = { imageIndex: index }
    if (!analysis.countedFaces)
      throw new ActionError('NO_FACE_FOUND', 'no face was found in the image', location)
    throw new ActionError(
      'FACE_TOO_SMALL',
      `no face has ${minFaceSize} px; send a larger image`,
      location,
    )
  }
  requireQuality(largest, analysis, { minQuality: params.minQuality, imageIndex: index })
  return { analysis, faces: [largest, ...others] }
}

/** The most faces of an analysis. */
export const facesMax = 100

/**
 * Finds all faces of an image with the required quality, the largest first. An image without a face is
 * not an error.
 *
 * @param options what else to analyze.
 * @returns up to `maxFaces` faces, and the number of all.
 */
export async function findAllFaces(
  call: ExtractCall<FaceParams & { readonly maxFaces: number }>,
  image: EncodedImage,
  index: number,
  options: Partial<AnalysisRequest>,
) {
  const { minFaceConfidence, minFaceSize, minQuality, maxFaces } = call.params
  const analysis = await analyzeImage(call, image, index, {
    minFaceConfidence,
    minFaceSizePx: minFaceSize,
    // With a minimum quality, all faces are analyzed, because the rejected ones must not count.
    maxFaces: minQuality > 0 ? facesMax : maxFaces,
    crops: false,
    ...options,
  })
  const accepted = analysis.faces.filter((face) => hasQuality(face, minQuality))
  const faceCount = analysis.faceCount - (analysis.faces.length - accepted.length)
  return { analysis, faceCount, faces: accepted.slice(0, maxFaces) }
}

/** @throws ActionError MULTIPLE_FACES, and the errors of an image that cannot be analyzed. */
async function analyzeImage(
  { params, caller, services, signal }: ExtractCall<FaceParams>,
  image: EncodedImage,
  index: number,
  request: AnalysisRequest,
): Promise<ImageAnalysis> {
  const { accountId, projectId, keyId } = caller
  const context = { accountId, projectId, keyId, path: `params.images[${index}]`, signal }
  const latest = services.analyses?.get(index)
  const known = isDeepStrictEqual(latest?.of, [image, request]) ? latest?.analysis : undefined
  const analysis = known ?? (await services.vision.analyzeImage(image, request, context))
  services.analyses?.set(index, { of: [image, request], analysis })
  applyFacePolicy(analysis, params.facePolicy, index)
  return analysis
}

/**
 * @throws ActionError MULTIPLE_FACES if the policy is `single` and the image has more main faces, or
 *   if it is `strict` and the image has more faces.
 */
function applyFacePolicy(
  { faceCount, faceSidesPx }: Pick<ImageAnalysis, 'faceCount' | 'faceSidesPx'>,
  facePolicy: FacePolicy,
  imageIndex: number,
): void {
  if (facePolicy === 'strict' && faceCount > 1)
    throw new ActionError('MULTIPLE_FACES', `the image has ${faceCount} faces, not one`, {
      imageIndex,
    })
  const mainFaces = countMainFaces(faceSidesPx)
  if (facePolicy === 'single' && mainFaces > 1)
    throw new ActionError(
      'MULTIPLE_FACES',
      `the image has ${mainFaces} faces of similar size, not one: crop it to one face`,
      { imageIndex },
    )
}

/** Returns a face whose analysis included liveness. @throws Error if it did not. */
export function withLiveness(face: FaceResult): LivenessFace {
  const { liveness } = face
  if (!liveness) throw new Error('the analysis contains no liveness result')
  return { ...face, liveness }
}

/** Classifies one of possibly several faces: `facePolicy` limits their number. */
function classifyFace(
  face: FaceResult,
  analysis: ImageAnalysis,
  { livenessThreshold }: ProbeParams,
) {
  const rules = { threshold: livenessThreshold, requireSingleFace: false }
  return classifyLiveness(withLiveness(face), analysis, rules)
}

/** @throws ActionError LIVENESS_FAILED with the decision, the score and the reasons. */
function requireLive(
  face: FaceResult,
  analysis: ImageAnalysis,
  params: ProbeParams & ImagePosition,
): void {
  const { live, decision, score, threshold, reasons } = classifyFace(face, analysis, params)
  if (live) return
  const suffix = reasons.length > 0 ? `: ${reasons.join(', ')}` : ''
  throw new ActionError(
    'LIVENESS_FAILED',
    `the face is not live but ${decision} (score ${score.toFixed(2)}, live from ${threshold.toFixed(2)})${suffix}`,
    { imageIndex: params.imageIndex },
  )
}

function toProbeFace(face: FaceResult): ProbeFace {
  const { template, previousTemplates = [] } = face
  if (!template) throw new Error('the analysis contains no template')
  return { ...face, template, probes: [template, ...previousTemplates] }
}

function hasQuality({ qualityScore }: FaceResult, minQuality: number): boolean {
  return qualityScore >= minQuality
}

/** @throws ActionError LOW_QUALITY with the reasons. */
function requireQuality(
  face: FaceResult,
  analysis: ImageAnalysis,
  { minQuality, imageIndex }: Pick<FaceParams, 'minQuality'> & ImagePosition,
): void {
  if (hasQuality(face, minQuality)) return
  const reasons = lowScoreReasons(face, analysis).join(', ')
  throw new ActionError(
    'LOW_QUALITY',
    `the quality of the face is ${face.qualityScore}, below ${minQuality}: ${reasons}`,
    { imageIndex },
  )
}

type ReservingCall = Pick<ActionCall<unknown>, 'caller' | 'services' | 'signal'>

/**
 * Reserves places for all images that a call analyzes, before its first work, so that the call is
 * accepted or rejected as a whole.
 *
 * @returns the call with a vision client that uses these places. Dispose it when the images are
 *   analyzed: if one image has failed, the waiting ones are cancelled.
 * @throws HttpError 503 if there is no room for all images.
 */
export function reserveImages<Call extends ReservingCall>(
  call: Call,
  images: readonly Pick<EncodedImage, 'bytes'>[],
): Call & Disposable {
  const { caller, services, signal } = call
  const { accountId, projectId, keyId } = caller
  const vision = services.vision.reserve(images, { accountId, projectId, keyId, signal })
  return {
    ...call,
    services: { ...services, vision },
    [Symbol.dispose]: () => vision[Symbol.dispose](),
  }
}
