import { ActionError } from '../../lib/errors.ts'
import type {
  AnalysisRequest,
  EncodedImage,
  FaceResult,
  Template,
  ImageAnalysis,
} from '../../vision/image-analysis.ts'
import type { ActionCall } from '../action.ts'
import { classifyLiveness, type LivenessFace } from './classify-liveness.ts'
import { lowScoreReasons } from './quality-reasons.ts'

/** A face that can be compared. */
export type ProbeFace = FaceResult & {
  readonly template: Template
  /** The face as each model describes it that it was asked of, the active one first. */
  readonly probes: readonly Template[]
}

/** What a look is to bring beside templates of the active model. */
export type ExtractOptions = {
  /** Former models that faces are to be described by as well. */
  readonly previousTemplates?: readonly string[]
  /** Whether faces bring a crop that can be looked at again. */
  readonly contextCrops?: boolean
}

/** What was seen in a picture: at least one face, the largest first. */
export type ExtractedProbes = {
  readonly analysis: ImageAnalysis
  readonly faces: readonly [ProbeFace, ...ProbeFace[]]
}

type FaceParams = {
  readonly minFaceConfidence: number
  readonly minFaceSize: number
  readonly facePolicy: 'largest' | 'single'
  readonly minQuality: number
  readonly maxFaces?: number
}

export type ProbeParams = FaceParams & {
  readonly requireLiveness: boolean
  /** Without it, the networks' own. */
  readonly livenessThreshold?: number | undefined
}

type ExtractCall<Options> = Pick<ActionCall<Options>, 'caller' | 'services' | 'signal' | 'params'>

/**
 * Looks for faces to compare.
 *
 * Where liveness is required, the largest must be live and others that are not are passed over, as
 * those of bad quality are.
 *
 * @param index which image of the request it is, for messages.
 * @throws ActionError NO_FACE_FOUND, FACE_TOO_SMALL, MULTIPLE_FACES, LOW_QUALITY, LIVENESS_FAILED,
 *   and what is wrong with the picture itself.
 */
export async function extractProbes(
  call: ExtractCall<ProbeParams> & { readonly wanted?: ExtractOptions },
  picture: EncodedImage,
  index: number,
): Promise<ExtractedProbes> {
  const { params } = call
  const look = { templates: true, liveness: params.requireLiveness, ...definedOptions(call.wanted) }
  const { view, faces } = await findFaces(call, picture, index, look)
  const [largest, ...others] = faces.map(toProbeFace)
  if (!largest) throw new Error('the largest face is gone')
  if (params.requireLiveness) requireLive(largest, view, params)
  const isLive = (face: ProbeFace): boolean =>
    !params.requireLiveness || isFaceLive(face, view, params)
  return {
    analysis: view,
    faces: [largest, ...others.filter(isLive).filter(hasQuality(params.minQuality))],
  }
}

/**
 * Looks for faces that are large and good enough, the largest first; others may be of any quality.
 *
 * @param also what else is wanted of them.
 * @throws ActionError as `sight` does, but for LIVENESS_FAILED.
 */
export async function findFaces(
  call: ExtractCall<FaceParams>,
  picture: EncodedImage,
  index: number,
  also: Partial<AnalysisRequest>,
): Promise<{
  readonly view: ImageAnalysis
  readonly faces: readonly [FaceResult, ...FaceResult[]]
}> {
  const { params, caller, services, signal } = call
  const { minFaceConfidence, minFaceSize, maxFaces = 1, facePolicy } = params
  const look = { minFaceConfidence, minFaceSizePx: minFaceSize, maxFaces, crops: false }
  const where = { projectId: caller.projectId, path: `params.images[${index}]`, signal }
  const view = await services.vision.analyzeImage(picture, { ...look, ...also }, where)
  if (facePolicy === 'single' && view.faceCount > 1)
    throw new ActionError('MULTIPLE_FACES', `the image shows ${view.faceCount} faces, not one`)
  const [largest, ...others] = view.faces
  if (!largest) {
    const anySize = { ...look, minFaceSizePx: 1, maxFaces: 1 }
    const { faces } = await services.vision.analyzeImage(picture, anySize, where)
    if (faces.length === 0) throw new ActionError('NO_FACE_FOUND', 'no face was found in the image')
    throw new ActionError('FACE_TOO_SMALL', `no face has ${minFaceSize} px; send a larger picture`)
  }
  requireQuality(largest, view, params.minQuality)
  return { view, faces: [largest, ...others] }
}

/** A face of a look for liveness, which must have come. */
export function withLiveness(face: FaceResult): LivenessFace {
  const { liveness } = face
  if (!liveness) throw new Error('liveness was asked for and did not come')
  return { ...face, liveness }
}

/** Others may be in the picture: how many there may be, `facePolicy` says. */
function classifyFace(face: FaceResult, view: ImageAnalysis, { livenessThreshold }: ProbeParams) {
  return classifyLiveness(withLiveness(face), view, {
    threshold: livenessThreshold,
    requireSingleFace: false,
  })
}

function isFaceLive(face: FaceResult, view: ImageAnalysis, options: ProbeParams): boolean {
  return classifyFace(face, view, options).live
}

/** @throws ActionError LIVENESS_FAILED with the decision, the score and the reasons. */
function requireLive(face: FaceResult, view: ImageAnalysis, options: ProbeParams): void {
  const { live, decision, score, threshold, reasons } = classifyFace(face, view, options)
  if (live) return
  const because = reasons.length > 0 ? `: ${reasons.join(', ')}` : ''
  throw new ActionError(
    'LIVENESS_FAILED',
    `the face is not judged live but ${decision} (score ${score.toFixed(2)}, live from ${threshold.toFixed(2)})${because}`,
  )
}

/** What is not wanted is not said: the look stays as it was. */
function definedOptions({
  previousTemplates = [],
  contextCrops = false,
}: ExtractOptions = {}): ExtractOptions {
  return {
    ...(previousTemplates.length > 0 && { previousTemplates }),
    ...(contextCrops && { contextCrops }),
  }
}

function toProbeFace(face: FaceResult): ProbeFace {
  const { template, previousTemplates = [] } = face
  if (!template) throw new Error('a template was asked for and did not come')
  return { ...face, template, probes: [template, ...previousTemplates] }
}

const hasQuality =
  (minQuality: number) =>
  ({ qualityScore }: FaceResult): boolean =>
    qualityScore >= minQuality

/** @throws ActionError LOW_QUALITY with the reasons. */
function requireQuality(face: FaceResult, view: ImageAnalysis, minQuality: number): void {
  if (hasQuality(minQuality)(face)) return
  const reasons = lowScoreReasons(face, view).join(', ')
  throw new ActionError(
    'LOW_QUALITY',
    `the quality of the face is ${face.qualityScore}, below ${minQuality}: ${reasons}`,
  )
}
