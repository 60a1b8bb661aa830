import type { z } from 'zod'
import type { face } from '../actions/fields.ts'
import type { Analysis } from './question.ts'
import type { LookQuery } from './query.ts'

type Face = z.output<typeof face>

/** An answer of an action about a picture, as far as its making is told. */
type Made = {
  readonly debug?: Analysis['debug']
}

/**
 * A face in the words of CompreFace: a box in whole pixels of the upright image, and what the plugins
 * add to it.
 *
 * @param analysis of the same picture, where the plugins needed one.
 * @param made the answer that the face is of.
 */
export function faceOf(
  seen: Face,
  query: LookQuery,
  { analysis, made }: { readonly analysis?: Analysis | undefined; readonly made: Made },
) {
  const { left, top, width, height } = seen.boundingBox
  const { face_plugins: plugins, status } = query
  return {
    ...appearanceOf(seen, plugins, analysis),
    ...(plugins.includes('pose') && { pose: seen.pose }),
    box: {
      probability: seen.confidence,
      x_max: left + width,
      y_max: top + height,
      x_min: left,
      y_min: top,
    },
    ...(plugins.includes('landmarks') && { landmarks: landmarksOf(seen) }),
    ...(status === 'true' && { execution_time: made.debug?.timingsMs ?? {} }),
  }
}

/** What made the answer, where `status` asks for it: models by their role. */
export function versionsOf({ status }: LookQuery, made: Made) {
  return status === 'true' ? { plugins_versions: made.debug?.providers ?? {} } : {}
}

/** What eight in ten people are meant to lie in is told as an interval of probability 0.8. */
const ageProbability = 0.8

/** The same picture has the same boxes, whatever is asked of it. */
function appearanceOf(seen: Face, plugins: LookQuery['face_plugins'], analysis?: Analysis) {
  const same = analysis?.faces.find((other) => boxText(other) === boxText(seen))
  const { age, gender } = same?.attributes ?? {}
  return {
    ...(plugins.includes('age') &&
      age && { age: { probability: ageProbability, high: age.high, low: age.low } }),
    ...(plugins.includes('gender') &&
      gender && { gender: { probability: gender.confidence, value: gender.value } }),
  }
}

function boxText({ boundingBox: { left, top, width, height } }: Pick<Face, 'boundingBox'>): string {
  return [left, top, width, height].join(' ')
}

/** Eyes, nose, corners of the mouth; each the left one of the image first, whole pixels. */
function landmarksOf({ landmarks }: Face) {
  if (!landmarks) return []
  const { leftEye, rightEye, noseTip, leftMouth, rightMouth } = landmarks
  return [leftEye, rightEye, noseTip, leftMouth, rightMouth].map(({ x, y }) => [
    Math.round(x),
    Math.round(y),
  ])
}
