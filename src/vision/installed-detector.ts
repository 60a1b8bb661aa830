import type { Decoding, InstalledModel } from '../models/pack.ts'
import { confidenceAt } from './agreement.ts'
import type { Detection } from './agreement.ts'
import type { Decode, RawFace } from './decoders/raw-face.ts'
import { retinaface } from './decoders/retinaface.ts'
import { scrfd } from './decoders/scrfd.ts'
import { yunet } from './decoders/yunet.ts'
import type { Detector } from './detector.ts'
import { suppress } from './geometry.ts'
import type { Rect } from './geometry.ts'
import { beyondDoubt, judge } from './judge.ts'
import type { Scene } from './scene.ts'
import type { Session } from './session.ts'
import { providersOf } from './sessions.ts'
import type { Sessions } from './sessions.ts'
import { blackInput, fittedInput, letterbox, scaleInto } from './tensor.ts'

type DetectorRecipe = Extract<Decoding, { readonly boxToFace: unknown }>

/**
 * A detector of a pack, in place of both built-in ones.
 *
 * @throws Error naming the file when the network is not what its manifest says.
 */
export async function openInstalledDetector(
  installed: InstalledModel,
  sessions: Sessions,
): Promise<Detector> {
  const { decoding } = installed.model
  if (!('boxToFace' in decoding)) throw new Error(`${installed.model.id} is no detector`)
  const session = await sessions.installed(installed)
  const decode = decoderOf(session, decoding)
  // Before anybody relies on it: a wrong output is found now, not in somebody's picture.
  decode(await session.run(blackInput(session.input)), session.input)
  return {
    providers: providersOf([installed.model]),
    async find(scene, isWanted) {
      const faces = await findIn(scene, session, decode)
      const kept = suppress(faces, ({ score }) => score, decoding.overlapMax)
      const judged: Detection[] = []
      for (const face of kept.slice(0, detectionsMax).map((raw) => detectionOf(raw, decoding)))
        if (isWanted(face)) judged.push(await judge(face, scene.examine))
      return judged.filter(isWanted)
    },
  }
}

/** Far more than a service is asked about; a bound for whatever follows. */
const detectionsMax = 200

function decoderOf(session: Session, decoding: DetectorRecipe): Decode {
  if (decoding.kind === 'yunet') return yunet(session)
  if (decoding.kind === 'scrfd') return scrfd(session, decoding)
  return retinaface(session, decoding)
}

/**
 * What the network sees, in continuous coordinates of the frame. It looks at the frame as it is
 * halved for close looks anyway: shrinking the whole once more would cost as much as the network.
 */
async function findIn(
  { upright: { frame }, pyramid }: Scene,
  session: Session,
  decode: Decode,
): Promise<RawFace[]> {
  const { input: most, isAnySize } = session
  const level = pyramid.atLeast(scaleInto(frame, most))
  const input = isAnySize ? fittedInput(level, most) : most
  const seen = await letterbox(level, input, scaleInto(level, most))
  const faces = decode(await session.run(seen.tensor, input), input)
  const scaleX = (seen.scaleX * frame.width) / level.width
  const scaleY = (seen.scaleY * frame.height) / level.height
  return faces.map(({ score, box, points }) => ({
    score,
    box: {
      x: box.x * scaleX,
      y: box.y * scaleY,
      width: box.width * scaleX,
      height: box.height * scaleY,
    },
    points: points.map(({ x, y }) => ({ x: x * scaleX, y: y * scaleY })),
  }))
}

/**
 * Whoever is doubtful goes without points: then the landmark network looks for the face in the box
 * before the mesh does, and the two know nothing of what the detector believes. On a dog's face the
 * mesh answers 0.33 so, and 0.79 where the detector's eyes tell it where to look.
 */
function detectionOf({ box, score, points }: RawFace, recipe: DetectorRecipe): Detection {
  const confidence = confidenceOf(score, recipe)
  const face = { box: faceBox(box, recipe.boxToFace), confidence }
  return confidence < beyondDoubt ? face : { ...face, points }
}

function confidenceOf(
  score: number,
  { scoreThreshold, certainScore }: Pick<DetectorRecipe, 'scoreThreshold' | 'certainScore'>,
): number {
  if (certainScore === undefined || score <= scoreThreshold)
    return confidenceAt(score, scoreThreshold)
  return score < certainScore
    ? 0.6 + ((beyondDoubt - 0.6) * (score - scoreThreshold)) / (certainScore - scoreThreshold)
    : beyondDoubt + ((1 - beyondDoubt) * (score - certainScore)) / (1 - certainScore)
}

function faceBox(box: Rect, { left, top, width, height }: DetectorRecipe['boxToFace']): Rect {
  return {
    x: box.x + left * box.width,
    y: box.y + top * box.height,
    width: width * box.width,
    height: height * box.height,
  }
}
