import type { InstalledModel } from '../../models/model-set.ts'
import { requireAntiSpoofDecoding, type AntiSpoofDecoding } from '../../models/decoding.ts'
import type { ImageContext } from '../image-context.ts'
import type { Frame } from '../image/frame.ts'
import { scaleRect, type Rect } from '../image/geometry.ts'
import { meshBounds } from '../landmarks/mesh.ts'
import { formatProviders, type ModelSessions } from '../model-sessions.ts'
import { requireOutput, type ModelSession } from '../session.ts'
import { toTensor } from '../tensor.ts'
import type { AntiSpoofModel } from './anti-spoof-model.ts'
import { cropRect, cropAndResize } from './crop-rect.ts'

/**
 * Opens an anti-spoofing network of an installed pack.
 *
 * @throws Error naming the file if it is not such a network.
 */
export async function openInstalledAntiSpoof(
  installed: InstalledModel,
  sessions: ModelSessions,
): Promise<AntiSpoofModel> {
  const { model } = installed
  const decoding = requireAntiSpoofDecoding(model)
  const session = await sessions.openInstalled(installed)
  await checkOutput(session, decoding)
  const providerId = formatProviders([model])
  return {
    providerId,
    liveMin: decoding.liveMin,
    spoofMax: decoding.spoofMax,
    contextMin: Math.min(decoding.cropFactor, decoding.contextMin),
    async predict(face, context) {
      const { frame, box } = await selectFrame(meshBounds(face.mesh), context, session, decoding)
      const rect = cropRect(decoding.crop, box, decoding.cropFactor, frame)
      const crop = cropAndResize(frame, rect, session.input)
      const score = await liveProbability(session, decoding, toTensor(crop, session.input))
      return { score, componentScores: { [providerId]: score } }
    },
  }
}

/** Returns the high-resolution frame if the crop has fewer pixels than the network's input. */
async function selectFrame(
  box: Rect,
  { image }: ImageContext,
  { input }: ModelSession,
  { cropFactor }: AntiSpoofDecoding,
): Promise<{ readonly frame: Frame; readonly box: Rect }> {
  const { frame } = image
  if (cropFactor * Math.min(box.width, box.height) >= Math.max(input.width, input.height))
    return { frame, box }
  const highRes = await image.highResFrame()
  const scaled = scaleRect(box, highRes.width / frame.width, highRes.height / frame.height)
  return { frame: highRes, box: scaled }
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

/** Runs a black image once at the start to compare the number of classes with the manifest. */
async function checkOutput(session: ModelSession, decoding: AntiSpoofDecoding): Promise<void> {
  const { classes, liveClass, liveMin, spoofMax } = decoding
  const { width, height } = session.input
  const values = await runClasses(session, new Float32Array(3 * width * height))
  const fail = (message: string): never => {
    throw new Error(`${session.filePath}: ${message}`)
  }
  if (values.length !== classes)
    fail(`returns ${values.length} classes, the manifest declares ${classes}`)
  if (liveClass >= classes) fail(`the manifest has no class ${liveClass} for "live"`)
  if (spoofMax > liveMin)
    fail(`the manifest has a spoofMax of ${spoofMax} above the liveMin of ${liveMin}`)
}

function softmax(logits: Float32Array): number[] {
  const largest = Math.max(...logits)
  const powers = Array.from(logits, (logit) => Math.exp(logit - largest))
  const sum = powers.reduce((total, power) => total + power, 0)
  return powers.map((power) => power / sum)
}
