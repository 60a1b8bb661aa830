import type { z } from 'zod'
import type { face } from '../actions/schemas/fields.ts'
import type { AnalyzeOutput } from './prepare-action.ts'
import type { ImageQuery } from './input/query.ts'

type FaceValue = z.output<typeof face>

/** An answer of an action about a picture, as far as its making is told. */
type ActionDebug = {
  readonly debug?: AnalyzeOutput['debug']
}

/**
 * A face in the words of CompreFace: a box in whole pixels of the upright image, and what the plugins
 * add to it.
 *
 * @param analysis of the same picture, where the plugins needed one.
 * @param made the answer that the face is of.
 */
export function toCompreFaceFace(
  seen: FaceValue,
  query: ImageQuery,
  { analysis, made }: { readonly analysis?: AnalyzeOutput | undefined; readonly made: ActionDebug },
) {
  const { left, top, width, height } = seen.boundingBox
  const { face_plugins: plugins, status } = query
  return {
    ...appearancePlugins(seen, plugins, analysis),
    ...(plugins.includes('pose') && { pose: seen.pose }),
    box: {
      probability: seen.confidence,
      x_max: left + width,
      y_max: top + height,
      x_min: left,
      y_min: top,
    },
    ...(plugins.includes('landmarks') && { landmarks: toLandmarkPoints(seen) }),
    ...(status === 'true' && { execution_time: made.debug?.timingsMs ?? {} }),
  }
}

/** What made the answer, where `status` asks for it: models by their role. */
export function pluginVersions({ status }: ImageQuery, made: ActionDebug) {
  return status === 'true' ? { plugins_versions: made.debug?.providers ?? {} } : {}
}

/** What eight in ten people are meant to lie in is told as an interval of probability 0.8. */
const ageProbability = 0.8

/** The same picture has the same boxes, whatever is asked of it. */
function appearancePlugins(
  seen: FaceValue,
  plugins: ImageQuery['face_plugins'],
  analysis?: AnalyzeOutput,
) {
  const same = analysis?.faces.find((other) => boxKey(other) === boxKey(seen))
  const { age, gender } = same?.attributes ?? {}
  return {
    ...(plugins.includes('age') &&
      age && { age: { probability: ageProbability, high: age.high, low: age.low } }),
    ...(plugins.includes('gender') &&
      gender && { gender: { probability: gender.confidence, value: gender.value } }),
  }
}

function boxKey({
  boundingBox: { left, top, width, height },
}: Pick<FaceValue, 'boundingBox'>): string {
  return [left, top, width, height].join(' ')
}

/** Eyes, nose, corners of the mouth; each the left one of the image first, whole pixels. */
function toLandmarkPoints({ landmarks }: FaceValue) {
  if (!landmarks) return []
  const { leftEye, rightEye, noseTip, leftMouth, rightMouth } = landmarks
  return [leftEye, rightEye, noseTip, leftMouth, rightMouth].map(({ x, y }) => [
    Math.round(x),
    Math.round(y),
  ])
}
