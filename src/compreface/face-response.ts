import { isDeepStrictEqual } from 'node:util'
import type { FaceValue } from '../actions/schemas/fields.ts'
import type { ImageQuery } from './input/query.ts'
import type { AnalyzeOutput } from './prepare-action.ts'

/** The part of an action's value that `status` adds to the response. */
type ActionDebug = Pick<AnalyzeOutput, 'debug'>

/**
 * Converts a face to the format of CompreFace: a box in whole pixels of the upright image, and the
 * fields of those requested plugins that Facegate has.
 *
 * @param analysis of the same image, if a plugin needs one.
 * @param source the value that contains the face.
 */
export function toCompreFaceFace(
  face: FaceValue,
  query: ImageQuery,
  {
    analysis,
    source,
  }: { readonly analysis?: AnalyzeOutput | undefined; readonly source: ActionDebug },
) {
  const { left, top, width, height } = face.boundingBox
  const { face_plugins: plugins, status, boxProbability } = query
  return {
    ...appearancePlugins(face, plugins, analysis),
    ...(plugins.supported.includes('pose') && { pose: face.pose }),
    box: {
      probability: boxProbability.ofConfidence(face.confidence),
      x_max: left + width,
      y_max: top + height,
      x_min: left,
      y_min: top,
    },
    ...(plugins.supported.includes('landmarks') && { landmarks: toLandmarkPoints(face) }),
    ...(status === 'true' && { execution_time: source.debug?.timingsMs ?? {} }),
  }
}

/** Returns the models by role, if `status` requests them. */
export function pluginVersions({ status }: ImageQuery, source: ActionDebug) {
  return status === 'true' ? { plugins_versions: source.debug?.providers ?? {} } : {}
}

/** svc.attributes chooses the age interval so that it contains the age of 80 % of people. */
const ageProbability = 0.8

/** Finds the same face in the analysis by its box: every action returns the same boxes. */
function appearancePlugins(
  face: FaceValue,
  plugins: ImageQuery['face_plugins'],
  analysis?: AnalyzeOutput,
) {
  const analyzed = analysis?.faces.find((other) =>
    isDeepStrictEqual(other.boundingBox, face.boundingBox),
  )
  const { age, gender } = analyzed?.attributes ?? {}
  return {
    ...(plugins.supported.includes('age') &&
      age && { age: { probability: ageProbability, high: age.high, low: age.low } }),
    ...(plugins.supported.includes('gender') &&
      gender && { gender: { probability: gender.confidence, value: gender.value } }),
  }
}

/** Eyes, nose, corners of the mouth in whole pixels; in each pair the left one of the image first. */
function toLandmarkPoints({ landmarks }: FaceValue) {
  if (!landmarks) return []
  const { leftEye, rightEye, noseTip, leftMouth, rightMouth } = landmarks
  return [leftEye, rightEye, noseTip, leftMouth, rightMouth].map(({ x, y }) => [
    Math.round(x),
    Math.round(y),
  ])
}
