import type { Decoding } from '../../models/decoding.ts'
import type { InstalledModel } from '../../models/model-set.ts'
import { confidenceFromScore } from './combine-detections.ts'
import type { Detection } from './combine-detections.ts'
import type { DecodeDetections, RawDetection } from './decoders/raw-detection.ts'
import { retinaface } from './decoders/retinaface.ts'
import { scrfd } from './decoders/scrfd.ts'
import { yunet } from './decoders/yunet.ts'
import type { Detector } from './open-detector.ts'
import { suppressOverlaps } from '../image/geometry.ts'
import type { Rect } from '../image/geometry.ts'
import { certainConfidenceMin, confirmDetection } from './confirm-detection.ts'
import type { ImageContext } from '../image-context.ts'
import type { ModelSession } from '../session.ts'
import { formatProviders } from '../model-sessions.ts'
import type { ModelSessions } from '../model-sessions.ts'
import { blackInput, fitInput, letterbox, fitScale } from '../tensor.ts'

type DetectorDecoding = Extract<Decoding, { readonly boxToFace: unknown }>

/**
 * A detector of a pack, in place of both built-in ones.
 *
 * @throws Error naming the file when the network is not what its manifest says.
 */
export async function openInstalledDetector(
  installed: InstalledModel,
  sessions: ModelSessions,
): Promise<Detector> {
  const { decoding } = installed.model
  if (!('boxToFace' in decoding)) throw new Error(`${installed.model.id} is no detector`)
  const session = await sessions.openInstalled(installed)
  const decode = decoderOf(session, decoding)
  // Before anybody relies on it: a wrong output is found now, not in somebody's picture.
  decode(await session.run(blackInput(session.input)), session.input)
  return {
    providers: formatProviders([installed.model]),
    async detectFaces(scene, isWanted) {
      const faces = await detectCandidates(scene, session, decode)
      const kept = suppressOverlaps(faces, ({ score }) => score, decoding.overlapMax)
      const judged: Detection[] = []
      for (const face of kept.slice(0, detectionsMax).map((raw) => toDetection(raw, decoding)))
        if (isWanted(face)) judged.push(await confirmDetection(face, scene.fitMesh))
      return judged.filter(isWanted)
    },
  }
}

/** Far more than a service is asked about; a bound for whatever follows. */
const detectionsMax = 200

function decoderOf(session: ModelSession, decoding: DetectorDecoding): DecodeDetections {
  if (decoding.kind === 'yunet') return yunet(session)
  if (decoding.kind === 'scrfd') return scrfd(session, decoding)
  return retinaface(session, decoding)
}

/**
 * What the network sees, in continuous coordinates of the frame. It looks at the frame as it is
 * halved for close looks anyway: shrinking the whole once more would cost as much as the network.
 */
async function detectCandidates(
  { image: { frame }, pyramid }: ImageContext,
  session: ModelSession,
  decode: DecodeDetections,
): Promise<RawDetection[]> {
  const { input: most, isAnySize } = session
  const level = pyramid.levelForScale(fitScale(frame, most))
  const input = isAnySize ? fitInput(level, most) : most
  const seen = await letterbox(level, input, fitScale(level, most))
  const faces = decode(await session.run(seen.tensor, input), input)
  const scaleX = (seen.scaleX * frame.width) / level.width
  const scaleY = (seen.scaleY * frame.height) / level.height
  return faces.map(({ score, box, landmarkPoints }) => ({
    score,
    box: {
      x: box.x * scaleX,
      y: box.y * scaleY,
      width: box.width * scaleX,
      height: box.height * scaleY,
    },
    landmarkPoints: landmarkPoints.map(({ x, y }) => ({ x: x * scaleX, y: y * scaleY })),
  }))
}

/**
 * Whoever is doubtful goes without points: then the landmark network looks for the face in the box
 * before the mesh does, and the two know nothing of what the detector believes. On a dog's face the
 * mesh answers 0.33 so, and 0.79 where the detector's eyes tell it where to look.
 */
function toDetection(
  { box, score, landmarkPoints: points }: RawDetection,
  recipe: DetectorDecoding,
): Detection {
  const confidence = toConfidence(score, recipe)
  const face = { box: toFaceBox(box, recipe.boxToFace), confidence }
  return confidence < certainConfidenceMin ? face : { ...face, landmarkPoints: points }
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
