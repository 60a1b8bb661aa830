import type { FaceResult } from '../../vision/image-analysis.ts'

/**
 * A face is a main face if its shorter side is at least this share of that of the largest face.
 * Smaller faces are people in the background: in 807 press photographs (LFW, fold 1) this limit
 * reduces the photographs with several faces from 59 to 49 (docs/recognition/quality.md).
 */
const mainFaceSideShareMin = 0.5

/** @param sidesPx the shorter sides of all faces of an image, the largest face first. */
export function countMainFaces(sidesPx: readonly number[]): number {
  return sidesPx.filter((sidePx) => isMainSide(sidePx, sidesPx)).length
}

/** Whether the face is a main face of the image and no other face is. */
export function isOnlyMainFace(
  { boundingBox: { width, height } }: Pick<FaceResult, 'boundingBox'>,
  sidesPx: readonly number[],
): boolean {
  return countMainFaces(sidesPx) === 1 && isMainSide(Math.min(width, height), sidesPx)
}

function isMainSide(sidePx: number, [largestPx = 0]: readonly number[]): boolean {
  return sidePx >= mainFaceSideShareMin * largestPx
}
