import type { ActionValues } from '../playground/result/action-values.ts'

export type ComparedFace = Pick<
  ActionValues['svc.verify']['probe'],
  'boundingBox' | 'pose' | 'quality'
>

/** Enrollment advises another picture below this score, too. */
const qualityAdvised = 75
/** Faces of fewer pixels show few details. */
const sideAdvisedPx = 100
const angleAdvisedDegrees = 30

/** Returns what makes a comparison with this face less reliable, with the remedy. */
export function warningsOf(
  { boundingBox, pose, quality }: ComparedFace,
  imageIndex: number,
): readonly string[] {
  const side = Math.round(Math.min(boundingBox.width, boundingBox.height))
  const angle = Math.round(Math.max(Math.abs(pose.yaw), Math.abs(pose.pitch)))
  const image = `Image ${imageIndex}`
  return [
    quality.score < qualityAdvised &&
      `${image}: the quality is ${quality.score} of 100, below ${qualityAdvised}. Use a sharp, evenly lit picture.`,
    side < sideAdvisedPx &&
      `${image}: the face is ${side} pixels wide, below ${sideAdvisedPx}. Use a larger picture.`,
    angle > angleAdvisedDegrees &&
      `${image}: the head is turned by ${angle}°, above ${angleAdvisedDegrees}°. Use a frontal picture.`,
  ].filter((warning) => warning !== false)
}
