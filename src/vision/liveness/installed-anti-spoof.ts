import type { Decoding } from '../../models/decoding.ts'
import type { InstalledModel } from '../../models/model-set.ts'
import type { Frame } from '../image/frame.ts'
import type { Rect } from '../image/geometry.ts'
import type { DetectedFace, ImageContext } from '../image-context.ts'
import { formatProviders } from '../model-sessions.ts'
import type { ModelSessions } from '../model-sessions.ts'
import { requireOutput } from '../session.ts'
import type { ModelSession } from '../session.ts'
import { toTensor } from '../tensor.ts'
import { cropRect } from './crop-rect.ts'
import { cropAndResize } from './crop-resize.ts'
import { meshBounds } from './mesh-bounds.ts'
import type { AntiSpoofModel, AntiSpoofScore } from './open-liveness-check.ts'

type AntiSpoofDecoding = Extract<Decoding, { readonly kind: 'antispoof' }>

/**
 * Opens an anti-spoofing network of an installed pack.
 *
 * @throws Error naming the file when it is no such network.
 */
export async function openInstalledAntiSpoof(
  installed: InstalledModel,
  sessions: ModelSessions,
): Promise<AntiSpoofModel> {
  const { model } = installed
  const { decoding } = model
  if (decoding.kind !== 'antispoof')
    throw new Error(`${model.id} judges no liveness: its decoding is ${decoding.kind}`)
  const session = await sessions.openInstalled(installed)
  await checkOutput(session, decoding)
  const id = formatProviders([model])
  return {
    providerId: id,
    liveMin: decoding.liveMin,
    spoofMax: decoding.spoofMax,
    contextMin: Math.min(decoding.cropFactor, decoding.contextMin),
    async predict(face: DetectedFace, scene: ImageContext): Promise<AntiSpoofScore> {
      const { frame, box } = await selectFrame(meshBounds(face), scene, session, decoding)
      const rect = cropRect(decoding.crop, box, decoding.cropFactor, frame)
      const chip = cropAndResize(frame, rect, session.input)
      const score = await liveProbability(session, decoding, toTensor(chip, session.input))
      return { score, componentScores: { [id]: score } }
    },
  }
}

/** Where the frame has fewer pixels than the network would look at, the finer one is taken. */
async function selectFrame(
  box: Rect,
  { image: upright }: ImageContext,
  { input }: ModelSession,
  { cropFactor }: AntiSpoofDecoding,
): Promise<{ readonly frame: Frame; readonly box: Rect }> {
  const { frame } = upright
  if (cropFactor * Math.min(box.width, box.height) >= Math.max(input.width, input.height))
    return { frame, box }
  const finer = await upright.highResFrame()
  const x = finer.width / frame.width
  const y = finer.height / frame.height
  const scaled = { x: box.x * x, y: box.y * y, width: box.width * x, height: box.height * y }
  return { frame: finer, box: scaled }
}

async function liveProbability(
  session: ModelSession,
  { logits, liveClass }: AntiSpoofDecoding,
  tensor: Float32Array,
): Promise<number> {
  const values = await runClasses(session, tensor)
  return (logits ? softmax(values) : [...values])[liveClass] ?? 0
}

async function runClasses(session: ModelSession, tensor: Float32Array): Promise<Float32Array> {
  return requireOutput(await session.run(tensor), session.outputNames[0] ?? '')
}

/** A black picture tells how many classes there are, before the first face comes. */
async function checkOutput(session: ModelSession, decoding: AntiSpoofDecoding): Promise<void> {
  const { classes, liveClass, liveMin, spoofMax } = decoding
  const { width, height } = session.input
  const found = await runClasses(session, new Float32Array(3 * width * height))
  const wrong = (what: string): never => {
    throw new Error(`${session.filePath}: ${what}`)
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
