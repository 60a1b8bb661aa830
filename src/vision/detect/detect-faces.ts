import { combineDetections, addBorderFaces } from './combine-detections.ts'
import type { Detection } from './combine-detections.ts'
import type { DetectorCandidate } from './blazeface.ts'
import type { Frame } from '../image/frame.ts'
import { confirmDetection, meshScoreMin } from './confirm-detection.ts'
import { meshLandmarks } from '../landmarks/mesh.ts'
import type { Mesh } from '../landmarks/mesh.ts'
import type { FitMesh } from '../image-context.ts'

/** What detection needs: two networks that search, and one that takes a close look at a box. */
export type BuiltinDetectors = {
  /** Fast and good on near faces; best first. */
  readonly blazeface: () => Promise<readonly DetectorCandidate[]>
  /** Ten times slower and good on small faces. */
  readonly ssd: () => Promise<readonly DetectorCandidate[]>
  /** BlazeFace again, for faces that the border cuts. */
  readonly borderFaces: () => Promise<readonly DetectorCandidate[]>
  readonly fitMesh: FitMesh
}

/**
 * The faces of `frame` that are wanted, best first.
 *
 * The SSD is nine tenths of the cost and is skipped where the picture surely shows one near face.
 * Whoever is not beyond doubt is shown to the mesh, which knows a face from a collar or a dog.
 */
export async function detectFaces(
  { blazeface, ssd, borderFaces: cut, fitMesh: examine }: BuiltinDetectors,
  frame: Frame,
  isWanted: (face: Detection) => boolean,
): Promise<Detection[]> {
  const near = await blazeface()
  const isOne = await isSingleNearFace(near, frame, examine)
  const found = isOne
    ? combineDetections(near, [])
    : addBorderFaces(combineDetections(near, await ssd()), await cut())
  const judged: Detection[] = []
  for (const face of found.filter(isWanted)) judged.push(await confirmDetection(face, examine))
  return judged.filter(isWanted)
}

/**
 * Whether the picture surely shows one near face and nobody else: BlazeFace is confident of a large
 * face that the mesh confirms, and the few other places that caught its eye are nobody's face to
 * the mesh. Small places are ignored earlier than large ones, which may be a face cut by the border.
 *
 * Measured against always asking the SSD (the two lost are corners of faces at the border):
 *
 * | pictures | with one face | SSD skipped | a face lost |
 * |---|---|---|---|
 * | 708: groups and crops of them around each face, 10 to 55 % of the long side | 440 | 356 | 2 |
 * | 404 of LFW's press photographs | 380 | 296 | 0 |
 */
async function isSingleNearFace(
  candidates: readonly DetectorCandidate[],
  frame: Frame,
  examine: FitMesh,
): Promise<boolean> {
  const [first, ...others] = candidates
  if (!first || first.score < singleFaceLimits.scoreMin) return false
  if (longerSideOf(first) < singleFaceLimits.sideShareMin * Math.max(frame.width, frame.height))
    return false
  const rivals = others.filter(
    (other) =>
      other.score >= singleFaceLimits.rivalScore ||
      (other.score >= singleFaceLimits.largeRivalScore &&
        longerSideOf(other) >= longerSideOf(first) / 2),
  )
  if (rivals.length > singleFaceLimits.rivalsMax) return false
  if (rivals.some(({ score }) => score >= singleFaceLimits.rivalScoreMax)) return false
  const mesh = await examine(first)
  if (mesh.faceScore < meshScoreMin) return false
  for (const rival of rivals) {
    const other = await examine(rival)
    if (other.faceScore >= singleFaceLimits.rivalMeshScoreMax && !isSameFace(mesh, other))
      return false
  }
  return true
}

/** Whether both meshes lie on one face: a box beside a face lets the mesh slide onto it. */
function isSameFace(a: Mesh, b: Mesh): boolean {
  const from = meshLandmarks(a)
  const to = meshLandmarks(b)
  const eyes = Math.hypot(from.rightEye.x - from.leftEye.x, from.rightEye.y - from.leftEye.y)
  return Math.hypot(to.noseTip.x - from.noseTip.x, to.noseTip.y - from.noseTip.y) < eyes / 2
}

function longerSideOf({ box }: DetectorCandidate): number {
  return Math.max(box.width, box.height)
}

/** The thresholds of `isOneNearFace`; scores are BlazeFace's where nothing else is said. */
const singleFaceLimits = {
  scoreMin: 0.7,
  sideShareMin: 0.12,
  rivalScore: 0.2,
  largeRivalScore: 0.1,
  rivalScoreMax: 0.35,
  rivalMeshScoreMax: 0.1,
  rivalsMax: 2,
}
