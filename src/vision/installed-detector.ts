import type { Decoding, InstalledModel } from '../models/pack.ts'
import { confidenceAt } from './agreement.ts'
import type { Detection } from './agreement.ts'
import type { Decode, RawFace } from './decoders/raw-face.ts'
import { retinaface } from './decoders/retinaface.ts'
import { scrfd } from './decoders/scrfd.ts'
import { yunet } from './decoders/yunet.ts'
import type { Detector } from './detector.ts'
import type { Frame } from './frame.ts'
import { suppress } from './geometry.ts'
import type { Rect } from './geometry.ts'
import type { Session } from './session.ts'
import { providersOf } from './sessions.ts'
import type { Sessions } from './sessions.ts'
import { blackInput, letterbox } from './tensor.ts'

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
  decode(await session.run(blackInput(session.input)))
  return {
    providers: providersOf([installed.model]),
    async find({ upright }, isWanted) {
      const faces = await findIn(upright.frame, session, decode)
      const kept = suppress(faces, ({ score }) => score, decoding.overlapMax)
      return kept
        .slice(0, detectionsMax)
        .map((face) => detectionOf(face, decoding))
        .filter(isWanted)
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

/** What the network sees, in continuous coordinates of the frame. */
async function findIn(frame: Frame, session: Session, decode: Decode): Promise<RawFace[]> {
  const { tensor, scaleX, scaleY } = await letterbox(frame, session.input)
  const faces = decode(await session.run(tensor))
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

function detectionOf({ box, score, points }: RawFace, recipe: DetectorRecipe): Detection {
  const confidence = confidenceAt(score, recipe.scoreThreshold)
  return { box: faceBox(box, recipe.boxToFace), confidence, points }
}

function faceBox(box: Rect, { left, top, width, height }: DetectorRecipe['boxToFace']): Rect {
  return {
    x: box.x + left * box.width,
    y: box.y + top * box.height,
    width: width * box.width,
    height: height * box.height,
  }
}
