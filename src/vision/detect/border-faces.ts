import type { FitMesh } from '../image-context.ts'
import { padWithMirror, resizeFrame } from '../image/decode.ts'
import { type ImageSize, type Rect, areaOf, scaleRect, scaleSize } from '../image/geometry.ts'
import { type ImagePyramid, framePyramid } from '../image/pyramid.ts'
import { type Mesh, meshLandmarks } from '../landmarks/mesh.ts'
import type { ModelSession } from '../session.ts'
import { runBlazeface } from './blazeface.ts'
import { certainConfidence, combineDetections, confidenceFromScore } from './combine-detections.ts'
import type { Detection, DetectorCandidate } from './detection.ts'

/**
 * Detects faces that the border of the frame cuts. Detectors are trained on whole faces. A border
 * with the mirror image of the frame turns half a face into a whole one. The boxes extend beyond the
 * frame.
 */
export async function detectBorderFaces(session: ModelSession, pyramid: ImagePyramid) {
  const { frame } = pyramid
  const scale = Math.min(1, workSidePx / Math.max(frame.width, frame.height))
  const level = pyramid.levelForScale(scale)
  const size = scaleSize(frame, scale)
  const border = Math.floor(borderShare * Math.min(size.width, size.height))
  const padded = await padWithMirror(await resizeFrame(level, size), border)
  const candidates = await runBlazeface(session, framePyramid(padded))
  const toFrame = (box: Rect): Rect => {
    const unpadded = { ...box, x: box.x - border, y: box.y - border }
    return scaleRect(unpadded, frame.width / size.width, frame.height / size.height)
  }
  return candidates
    .map(({ box, score }) => ({ score, box: toFrame(box) }))
    .filter(({ box }) => isCutByBorder(box, frame))
}

/**
 * Whether the frame can show a face that the border cuts: a detector returned an uncertain box at the
 * border. That is true for 169 of 357 group and press photographs and crops of them, and for each of
 * the seven in which this search found a face.
 */
export function canShowBorderFace(detections: readonly Detection[], { width, height }: ImageSize) {
  return detections.some(
    ({ box, confidence }) =>
      confidence >= hintConfidenceMin &&
      confidence < certainConfidence &&
      (box.x < hintBorderShare * width ||
        box.y < hintBorderShare * height ||
        box.x + box.width > (1 - hintBorderShare) * width ||
        box.y + box.height > (1 - hintBorderShare) * height),
  )
}

/** True if the box crosses the border and is not the mirror image of a face. */
function isCutByBorder(box: Rect, frame: ImageSize): boolean {
  const width = Math.min(box.x + box.width, frame.width) - Math.max(box.x, 0)
  const height = Math.min(box.y + box.height, frame.height) - Math.max(box.y, 0)
  if (width <= 0 || height <= 0) return false
  const share = (width * height) / areaOf(box)
  return share <= insideShareMax && share >= insideShareMin
}

/** px. With the border, the frame fills the 256 px of the network's input. */
const workSidePx = 184
const borderShare = 0.2
/** The lowest confidence of a box at the border that was a face in the photographs was 0.298. */
const hintConfidenceMin = 0.15
const hintBorderShare = 0.04
/** The box of a mirror image is mostly outside the frame, the box of a face mostly inside. */
const insideShareMin = 0.5
/** A face that hardly touches the border is found without mirroring. */
const insideShareMax = 0.98

/**
 * Returns the detections of BlazeFace if they certainly are all faces of the image, else undefined:
 * the mesh confirms each probable face, none of them is small, and the mesh rejects the few other
 * candidates. A background with small faces leaves candidates that the mesh does not reject.
 *
 * Compared with running the SSD on 653 pictures without a single near face (groups, crops of them,
 * groups at a distance, small groups pasted into larger ones, collages, press photographs): the SSD is
 * skipped in 203 with 474 faces. Two boxes are lost, a dog and half a face at an edge. Four faces of
 * people beside the subject are added.
 */
export async function findNearGroup(
  candidates: readonly DetectorCandidate[],
  frame: ImageSize,
  fitMesh: FitMesh,
): Promise<Detection[] | undefined> {
  const sideMin = limits.sideShareMin * Math.max(frame.width, frame.height)
  const faces = candidates.filter(({ score }) => score >= limits.faceScoreMin)
  const rivals = candidates.filter(
    ({ score }) => score >= limits.rivalScore && score < limits.faceScoreMin,
  )
  if (faces.length === 0 || faces.length > limits.facesMax) return undefined
  if (faces.some(({ box }) => Math.max(box.width, box.height) < sideMin)) return undefined
  if (faces.some((face) => face.score < limits.cutFaceScoreMin && isCut(face.box, frame)))
    return undefined
  if (rivals.length > limits.rivalsMax) return undefined
  if (rivals.some(({ score }) => score >= limits.rivalScoreMax)) return undefined
  const meshes = new Map<Rect, Mesh>()
  for (const face of faces) {
    const mesh = await fitMesh(face)
    if (mesh.faceScore < limits.faceMeshScoreMin) return undefined
    if ([...meshes.values()].some((other) => isSameFace(other, mesh))) return undefined
    meshes.set(face.box, mesh)
  }
  for (const rival of rivals) {
    const rivalMesh = await fitMesh(rival)
    if (rivalMesh.faceScore < limits.rivalMeshScoreMax) continue
    if (![...meshes.values()].some((mesh) => isSameFace(mesh, rivalMesh))) return undefined
  }
  return toDetections(candidates, meshes)
}

/** Whether the border of the frame cuts the box. */
function isCut({ x, y, width, height }: Rect, frame: ImageSize): boolean {
  return x < 0 || y < 0 || x + width > frame.width || y + height > frame.height
}

/** @param meshes the meshes of the faces, by box. */
function toDetections(candidates: readonly DetectorCandidate[], meshes: ReadonlyMap<Rect, Mesh>) {
  const scores = new Map(candidates.map(({ box, score }) => [box, score]))
  return combineDetections(candidates, [])
    .map((detection) => {
      const mesh = meshes.get(detection.box)
      if (!mesh) return detection
      const score = scores.get(detection.box) ?? 0
      return { ...detection, confidence: groupConfidence(score, mesh.faceScore) }
    })
    .toSorted((a, b) => b.confidence - a.confidence)
}

/**
 * The confidence of a face that BlazeFace and the mesh found. For 568 faces it differs from the
 * confidence with the SSD by −0.01 in the median, and by −0.07 to 0.17 for nine tenths of them.
 */
function groupConfidence(blazeScore: number, meshScore: number): number {
  return confidenceFromScore((blazeScore + meshScore) / 2, 0.5)
}

/** Whether both meshes are on one face: from a box beside a face the mesh can slide onto it. */
export function isSameFace(a: Mesh, b: Mesh): boolean {
  const from = meshLandmarks(a)
  const to = meshLandmarks(b)
  const eyes = Math.hypot(from.rightEye.x - from.leftEye.x, from.rightEye.y - from.leftEye.y)
  return Math.hypot(to.noseTip.x - from.noseTip.x, to.noseTip.y - from.noseTip.y) < eyes / 2
}

/**
 * The scores are those of BlazeFace unless the name contains Mesh. With a `rivalScore` of 0.2, eight
 * faces of 2 % of the side were lost in two pictures. With a `rivalScoreMax` of 0.5, two more faces
 * were lost. Without `cutFaceScoreMin`, cut faces at the border were added to six pictures.
 */
const limits = {
  faceScoreMin: 0.45,
  faceMeshScoreMin: 0.85,
  cutFaceScoreMin: 0.7,
  sideShareMin: 0.06,
  rivalScore: 0.15,
  rivalScoreMax: 0.35,
  rivalMeshScoreMax: 0.1,
  /** More meshes than that cost as much as the SSD. */
  rivalsMax: 4,
  facesMax: 8,
}
