import { unreachable } from '../../lib/validation/unreachable.ts'
import { builtinPack } from '../../models/builtin/builtin-pack.ts'
import { type DetectorDecoding, requireDetectorDecoding } from '../../models/decoding.ts'
import type { InstalledModel, ModelSet } from '../../models/model-set.ts'
import type { FitMesh, ImageContext } from '../image-context.ts'
import type { Frame } from '../image/decode.ts'
import { scaleRect, suppressOverlaps } from '../image/geometry.ts'
import { type ModelSessions, formatProviders } from '../model-sessions.ts'
import type { ModelSession } from '../session.ts'
import { blackInput, letterbox, letterboxInShape } from '../tensor.ts'
import { canShowLargeFace, detectLargeFaces, runBlazeface } from './blazeface.ts'
import { canShowBorderFace, detectBorderFaces, findNearGroup, isSameFace } from './border-faces.ts'
import {
  addBorderFaces,
  certainConfidenceMin,
  combineDetections,
  confidenceFromScore,
  confirmDetections,
  meshScoreMin,
  toLargeFaces,
} from './combine-detections.ts'
import { type DecodeDetections, type RawDetection, retinaface, scrfd, yunet } from './decoders.ts'
import { type Detection, type DetectorCandidate, toFaceBox } from './detection.ts'
import type { Detector, FaceSelection } from './detector.ts'
import { runSsd } from './ssd.ts'

export async function openDetector({ detector }: ModelSet, sessions: ModelSessions) {
  return detector === 'builtin'
    ? openBuiltinDetector(sessions)
    : openInstalledDetector(detector, sessions)
}

async function openBuiltinDetector(sessions: ModelSessions): Promise<Detector> {
  const blazeface = await sessions.openBuiltin('blazeface')
  const ssd = await sessions.openBuiltin('ssd_mobilenetv1')
  return {
    providers: formatProviders([builtinPack.models.blazeface, builtinPack.models.ssd_mobilenetv1]),
    detectFaces({ pyramid, fitMesh }, selection) {
      const detectors = {
        blazeface: () => runBlazeface(blazeface, pyramid),
        ssd: () => runSsd(ssd, pyramid),
        borderFaces: () => detectBorderFaces(blazeface, pyramid),
        largeFaces: () => detectLargeFaces(blazeface, pyramid),
        fitMesh,
      }
      return detectFaces(detectors, pyramid.frame, selection)
    },
  }
}

/** The networks of the built-in detector: two that find faces, and one that confirms them. */
type BuiltinDetectors = {
  /** Fast, and accurate for near faces; best first. */
  readonly blazeface: () => Promise<readonly DetectorCandidate[]>
  /** Ten times slower, and accurate for small faces. */
  readonly ssd: () => Promise<readonly DetectorCandidate[]>
  /** A second run of BlazeFace, for faces that the border cuts. */
  readonly borderFaces: () => Promise<readonly DetectorCandidate[]>
  /** A third run of BlazeFace, for faces that fill the frame. */
  readonly largeFaces: () => Promise<readonly DetectorCandidate[]>
  readonly fitMesh: FitMesh
}

/**
 * Returns the selected faces of `frame`, the most confident first.
 *
 * The SSD takes most of the time. It is skipped if the image certainly shows one near face, or a few
 * faces and no smaller ones.
 * Uncertain faces are confirmed by the mesh network, which distinguishes faces from collars and dogs.
 * Only if no selected face is found, a face that fills the frame is searched for.
 */
export async function detectFaces(
  { blazeface, ssd, borderFaces, largeFaces, fitMesh }: BuiltinDetectors,
  frame: Frame,
  selection: FaceSelection,
): Promise<Detection[]> {
  const near = await blazeface()
  const detections = (await isSingleNearFace(near, frame, fitMesh))
    ? combineDetections(near, [])
    : await addCutFaces(
        (await findNearGroup(near, frame, fitMesh)) ?? combineDetections(near, await ssd()),
        borderFaces,
        frame,
      )
  const wanted = await confirmDetections(detections, { isWanted: selection.isWanted }, fitMesh)
  if (wanted.length > 0) return wanted
  const large = canShowLargeFace(near, frame) ? toLargeFaces(await largeFaces()) : []
  return confirmDetections([...large, ...detections], selection, fitMesh)
}

async function addCutFaces(
  detections: readonly Detection[],
  borderFaces: BuiltinDetectors['borderFaces'],
  frame: Frame,
): Promise<readonly Detection[]> {
  if (!canShowBorderFace(detections, frame)) return detections
  return addBorderFaces(detections, await borderFaces())
}

/**
 * Whether the image certainly shows one near face and no other: BlazeFace is confident of a large
 * face, the mesh confirms it, and the mesh rejects the few other candidates. Small candidates are
 * ignored at a higher score than large ones, because a large one can be a face cut by the border.
 *
 * Compared with running the SSD on every image (the two lost faces are corners of faces at the
 * border):
 *
 * | images | with one face | SSD skipped | a face lost |
 * |---|---|---|---|
 * | 708: groups and crops of them around each face, 10 to 55 % of the long side | 440 | 356 | 2 |
 * | 404 press photographs of LFW | 380 | 296 | 0 |
 */
async function isSingleNearFace(
  candidates: readonly DetectorCandidate[],
  frame: Frame,
  fitMesh: FitMesh,
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
  const mesh = await fitMesh(first)
  if (mesh.faceScore < meshScoreMin) return false
  for (const rival of rivals) {
    const rivalMesh = await fitMesh(rival)
    if (rivalMesh.faceScore >= singleFaceLimits.rivalMeshScoreMax && !isSameFace(mesh, rivalMesh))
      return false
  }
  return true
}

function longerSideOf({ box }: DetectorCandidate): number {
  return Math.max(box.width, box.height)
}

/** The thresholds of `isSingleNearFace`; scores are BlazeFace's unless the name contains Mesh. */
const singleFaceLimits = {
  scoreMin: 0.7,
  sideShareMin: 0.12,
  rivalScore: 0.2,
  largeRivalScore: 0.1,
  rivalScoreMax: 0.35,
  rivalMeshScoreMax: 0.1,
  rivalsMax: 2,
}

/**
 * Opens the detector of an installed pack, which replaces both built-in networks.
 *
 * @throws Error naming the file if the network does not match its manifest.
 */
export async function openInstalledDetector(
  installed: InstalledModel,
  sessions: ModelSessions,
): Promise<Detector> {
  const decoding = requireDetectorDecoding(installed.model)
  const session = await sessions.openInstalled(installed)
  const decode = createDecoder(session, decoding)
  // Checks the outputs once at the start, so that a mismatch is not found in a caller's request.
  decode(await session.run(blackInput(session.input)), session.input)
  return {
    providers: formatProviders([installed.model]),
    async detectFaces(context, selection) {
      const candidates = await detectCandidates(context, session, decode)
      const kept = suppressOverlaps(candidates, ({ score }) => score, decoding.overlapMax)
      const detections = kept.slice(0, detectionsMax).map((raw) => toDetection(raw, decoding))
      return confirmDetections(detections, selection, context.fitMesh)
    },
  }
}

/** Limits the cost of later stages; far above the number of faces that a request can ask for. */
const detectionsMax = 200

function createDecoder(session: ModelSession, decoding: DetectorDecoding): DecodeDetections {
  switch (decoding.kind) {
    case 'yunet':
      return yunet(session)
    case 'scrfd':
      return scrfd(session, decoding)
    case 'retinaface':
      return retinaface(session, decoding)
    default:
      return unreachable(decoding)
  }
}

/**
 * Returns the detections of the network, in continuous coordinates of the frame. The input is taken
 * from a level of the pyramid, which later stages need anyway. Scaling the whole frame once more
 * would cost as much as the network.
 */
async function detectCandidates(
  { pyramid }: ImageContext,
  session: ModelSession,
  decode: DecodeDetections,
): Promise<RawDetection[]> {
  const { input: declaredInput, isAnySize } = session
  const { input, tensor, scaleX, scaleY } = isAnySize
    ? letterboxInShape(pyramid, declaredInput)
    : { input: declaredInput, ...letterbox(pyramid, declaredInput) }
  const detections = decode(await session.run(tensor, input), input)
  return detections.map(({ score, box, landmarkPoints }) => ({
    score,
    box: scaleRect(box, scaleX, scaleY),
    landmarkPoints: landmarkPoints.map(({ x, y }) => ({ x: x * scaleX, y: y * scaleY })),
  }))
}

/**
 * The landmark points of an uncertain face are dropped. The landmark network then finds the face in
 * the box before the mesh is fitted, independent of the detector. On the face of a dog the mesh
 * scores 0.33 this way, and 0.79 if it starts from the eyes that the detector returned.
 */
function toDetection({ box, score, landmarkPoints }: RawDetection, decoding: DetectorDecoding) {
  const confidence = toConfidence(score, decoding)
  const isConfirmed = decoding.confirmBelow !== undefined && score >= decoding.confirmBelow
  const face = { box: toFaceBox(box, decoding.boxToFace), confidence, isConfirmed }
  return confidence < certainConfidenceMin ? face : { ...face, landmarkPoints }
}

function toConfidence(
  score: number,
  { scoreThreshold, certainScore }: Pick<DetectorDecoding, 'scoreThreshold' | 'certainScore'>,
): number {
  if (certainScore === undefined || score <= scoreThreshold)
    return confidenceFromScore(score, scoreThreshold)
  return score < certainScore
    ? 0.6 +
        ((certainConfidenceMin - 0.6) * (score - scoreThreshold)) / (certainScore - scoreThreshold)
    : certainConfidenceMin +
        ((1 - certainConfidenceMin) * (score - certainScore)) / (1 - certainScore)
}
