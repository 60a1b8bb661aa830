import { ActionError } from '../lib/errors.ts'
import type { Picture, SeenFace, Template, View } from '../vision/view.ts'
import type { ActionCall } from './action.ts'

/** A face that can be compared. */
export type Sighted = SeenFace & {
  readonly template: Template
  /** The face as each model describes it that it was asked of, the active one first. */
  readonly probes: readonly Template[]
}

/** What a look is to bring beside templates of the active model. */
export type Wanted = {
  /** Former models that faces are to be described by as well. */
  readonly formerTemplates?: readonly string[]
  /** Whether faces bring a crop that can be looked at again. */
  readonly contextCrops?: boolean
}

/** What was seen in a picture: at least one face, the largest first. */
export type Sight = { readonly view: View; readonly faces: readonly [Sighted, ...Sighted[]] }

export type SightOptions = {
  readonly minFaceConfidence: number
  readonly minFaceSize: number
  readonly facePolicy: 'largest' | 'single'
  readonly minQuality: number
  readonly requireLiveness: boolean
  readonly maxFaces?: number
}

type SightCall = Pick<ActionCall<SightOptions>, 'caller' | 'services' | 'signal' | 'params'> & {
  readonly wanted?: Wanted
}

/**
 * Looks for faces to compare.
 *
 * @param index which image of the request it is, for messages.
 * @throws ActionError NO_FACE_FOUND, FACE_TOO_SMALL, MULTIPLE_FACES, LOW_QUALITY, and what is wrong
 *   with the picture itself.
 */
export async function sight(call: SightCall, picture: Picture, index: number): Promise<Sight> {
  const { params, caller, services, signal } = call
  const { minFaceConfidence, minFaceSize, maxFaces = 1, facePolicy } = params
  const look = { minFaceConfidence, minFaceSizePx: minFaceSize, maxFaces, crops: false }
  const where = { projectId: caller.projectId, path: `params.images[${index}]`, signal }
  const compared = { ...look, templates: true, ...wantedOf(call.wanted) }
  const view = await services.vision.look(picture, compared, where)
  if (facePolicy === 'single' && view.faceCount > 1)
    throw new ActionError('MULTIPLE_FACES', `the image shows ${view.faceCount} faces, not one`)
  if (view.faces.length === 0) {
    const anySize = { ...look, minFaceSizePx: 1, maxFaces: 1 }
    const { faces } = await services.vision.look(picture, anySize, where)
    if (faces.length === 0) throw new ActionError('NO_FACE_FOUND', 'no face was found in the image')
    throw new ActionError('FACE_TOO_SMALL', `no face has ${minFaceSize} px; send a larger picture`)
  }
  const [largest, ...others] = view.faces.map(sighted)
  if (!largest) throw new Error('the largest face is gone')
  requireQuality(largest, view, params.minQuality)
  return { view, faces: [largest, ...others.filter(isGood(params.minQuality))] }
}

/** Nothing may seem live that was not looked at. @throws ActionError INVALID_REQUEST. */
export function refuseLiveness({ requireLiveness }: Pick<SightOptions, 'requireLiveness'>): void {
  if (requireLiveness)
    throw new ActionError(
      'INVALID_REQUEST',
      'params.requireLiveness: this build has no liveness check yet',
    )
}

/** What is not wanted is not said: the look stays as it was. */
function wantedOf({ formerTemplates = [], contextCrops = false }: Wanted = {}): Wanted {
  return {
    ...(formerTemplates.length > 0 && { formerTemplates }),
    ...(contextCrops && { contextCrops }),
  }
}

function sighted(face: SeenFace): Sighted {
  const { template, formerTemplates = [] } = face
  if (!template) throw new Error('a template was asked for and did not come')
  return { ...face, template, probes: [template, ...formerTemplates] }
}

const isGood =
  (minQuality: number) =>
  ({ qualityScore }: SeenFace): boolean =>
    qualityScore >= minQuality

/** @throws ActionError LOW_QUALITY with the reasons that can be told. */
function requireQuality(face: SeenFace, view: View, minQuality: number): void {
  if (isGood(minQuality)(face)) return
  const reasons = reasonsOf(face, view)
  const because = reasons.length > 0 ? `: ${reasons.join(', ')}` : ''
  throw new ActionError(
    'LOW_QUALITY',
    `the quality of the face is ${face.qualityScore}, below ${minQuality}${because}`,
  )
}

/** Where the components of the quality score begin to fall. */
const offAxisMaxDegrees = 35
const faceSideMinPx = 80
const confidenceMin = 0.75

/** What stands in the way, as far as box, pose and confidence tell; else the picture is unsharp. */
function reasonsOf({ boundingBox, pose, confidence }: SeenFace, view: View): string[] {
  const { left, top, width, height } = boundingBox
  const isCut = left === 0 || top === 0 || left + width >= view.width || top + height >= view.height
  const reasons = [
    Math.max(Math.abs(pose.yaw), Math.abs(pose.pitch)) > offAxisMaxDegrees && 'EXTREME_POSE',
    Math.min(width, height) < faceSideMinPx && 'FACE_TOO_SMALL',
    isCut && 'FACE_CUT_OFF',
    confidence < confidenceMin && 'LOW_CONFIDENCE',
  ].filter((reason) => reason !== false)
  return reasons.length > 0 ? reasons : ['LOW_SHARPNESS']
}
