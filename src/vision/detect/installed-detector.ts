import type { InstalledModel } from '../../models/model-set.ts'
import { requireDetectorDecoding, type DetectorDecoding } from '../../models/decoding.ts'
import { unreachable } from '../../lib/validation/unreachable.ts'
import type { ImageContext } from '../image-context.ts'
import { scaleRect, suppressOverlaps, type Rect } from '../image/geometry.ts'
import { formatProviders, type ModelSessions } from '../model-sessions.ts'
import type { ModelSession } from '../session.ts'
import { blackInput, letterbox, letterboxInShape } from '../tensor.ts'
import {
  confidenceFromScore,
  certainConfidenceMin,
  confirmDetections,
} from './combine-detections.ts'
import type { DecodeDetections, RawDetection } from './decoders/raw-detection.ts'
import { retinaface } from './decoders/retinaface.ts'
import { scrfd } from './decoders/scrfd.ts'
import { yunet } from './decoders/yunet.ts'
import type { Detection } from './detection.ts'
import type { Detector } from './detector.ts'

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
function toDetection(
  { box, score, landmarkPoints }: RawDetection,
  decoding: DetectorDecoding,
): Detection {
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

function toFaceBox(box: Rect, { left, top, width, height }: DetectorDecoding['boxToFace']): Rect {
  return {
    x: box.x + left * box.width,
    y: box.y + top * box.height,
    width: width * box.width,
    height: height * box.height,
  }
}
