import type { Decoding, InstalledModel } from '../../models/pack.ts'
import type { Frame } from '../frame.ts'
import type { Rect } from '../geometry.ts'
import type { Found, Scene } from '../scene.ts'
import { providersOf } from '../sessions.ts'
import type { Sessions } from '../sessions.ts'
import { output } from '../session.ts'
import type { Session } from '../session.ts'
import { toTensor } from '../tensor.ts'
import { cropOf } from './crop.ts'
import { cutOut } from './cut-out.ts'
import { faceBox } from './face-box.ts'
import type { SpoofJudge, Verdict } from './liveness.ts'

type Antispoof = Extract<Decoding, { readonly kind: 'antispoof' }>

/**
 * Opens an anti-spoofing network of an installed pack.
 *
 * @throws Error naming the file when it is no such network.
 */
export async function openInstalledJudge(
  installed: InstalledModel,
  sessions: Sessions,
): Promise<SpoofJudge> {
  const { model } = installed
  const { decoding } = model
  if (decoding.kind !== 'antispoof')
    throw new Error(`${model.id} judges no liveness: its decoding is ${decoding.kind}`)
  const session = await sessions.installed(installed)
  await prove(session, decoding)
  const id = providersOf([model])
  return {
    id,
    liveMin: decoding.liveMin,
    spoofMax: decoding.spoofMax,
    contextMin: Math.min(decoding.cropFactor, decoding.contextMin),
    async judge(face: Found, scene: Scene): Promise<Verdict> {
      const { frame, box } = await closest(faceBox(face), scene, session, decoding)
      const rect = cropOf(decoding.crop, box, decoding.cropFactor, frame)
      const chip = cutOut(frame, rect, session.input)
      const score = await liveShare(session, decoding, toTensor(chip, session.input))
      return { score, parts: { [id]: score } }
    },
  }
}

/** Where the frame has fewer pixels than the network would look at, the finer one is taken. */
async function closest(
  box: Rect,
  { upright }: Scene,
  { input }: Session,
  { cropFactor }: Antispoof,
): Promise<{ readonly frame: Frame; readonly box: Rect }> {
  const { frame } = upright
  if (cropFactor * Math.min(box.width, box.height) >= Math.max(input.width, input.height))
    return { frame, box }
  const finer = await upright.finer()
  const x = finer.width / frame.width
  const y = finer.height / frame.height
  const scaled = { x: box.x * x, y: box.y * y, width: box.width * x, height: box.height * y }
  return { frame: finer, box: scaled }
}

async function liveShare(
  session: Session,
  { logits, liveClass }: Antispoof,
  tensor: Float32Array,
): Promise<number> {
  const values = await classesOf(session, tensor)
  return (logits ? softmax(values) : [...values])[liveClass] ?? 0
}

async function classesOf(session: Session, tensor: Float32Array): Promise<Float32Array> {
  return output(await session.run(tensor), session.outputNames[0] ?? '')
}

/** A black picture tells how many classes there are, before the first face comes. */
async function prove(session: Session, decoding: Antispoof): Promise<void> {
  const { classes, liveClass, liveMin, spoofMax } = decoding
  const { width, height } = session.input
  const found = await classesOf(session, new Float32Array(3 * width * height))
  const wrong = (what: string): never => {
    throw new Error(`${session.place}: ${what}`)
  }
  if (found.length !== classes)
    wrong(`gives ${found.length} classes where its manifest says ${classes}`)
  if (liveClass >= classes) wrong(`its manifest has no class ${liveClass} to be "live"`)
  if (spoofMax > liveMin)
    wrong(`its manifest has a spoofMax of ${spoofMax} above its liveMin of ${liveMin}`)
}

function softmax(logits: Float32Array): number[] {
  const largest = Math.max(...logits)
  const powers = Array.from(logits, (logit) => Math.exp(logit - largest))
  const sum = powers.reduce((total, power) => total + power, 0)
  return powers.map((power) => power / sum)
}
