import { roundTo } from '../../lib/round-to.ts'
import { builtinPack } from '../../models/builtin/builtin-pack.ts'
import { requireAntiSpoofDecoding, type AntiSpoofDecoding } from '../../models/decoding.ts'
import type { ModelSet, InstalledModel } from '../../models/model-set.ts'
import type { DetectedFace, ImageContext } from '../image-context.ts'
import type { Frame } from '../image/decode.ts'
import { centreOf, squareAround, cropTransform, scaleRect, type Rect } from '../image/geometry.ts'
import { meshBounds, type Mesh } from '../landmarks/mesh.ts'
import { formatProviders, type ModelSessions } from '../model-sessions.ts'
import { requireOutput, type ModelSession } from '../session.ts'
import { toTensor } from '../tensor.ts'
import { cropFactorMax, cropRect, cropAndResize } from './crop-rect.ts'
import type { LivenessResult } from './liveness-result.ts'

/** Estimates whether a face is a live person or a presentation, such as a print or a screen. */
export type LivenessCheck = {
  /** "id@version" of the networks, joined by "+". */
  readonly providers: string
  readonly check: (face: DetectedFace, context: ImageContext) => Promise<LivenessResult>
}

/** One anti-spoofing network with the limits that its scores need. */
type AntiSpoofModel = {
  /** "id@version". */
  readonly providerId: string
  /** See `LivenessResult`. */
  readonly liveMin: number
  readonly spoofMax: number
  /** The smallest usable image, as a multiple of the width and height of the face. */
  readonly contextMin: number
  readonly predict: (face: DetectedFace, context: ImageContext) => Promise<AntiSpoofScore>
}

/** Probabilities of "live", 0..1. */
type AntiSpoofScore = {
  readonly score: number
  /** Name → score of each part that `score` combines. */
  readonly componentScores: Readonly<Record<string, number>>
}

/** With several networks, score and thresholds are the means over all of them. */
export async function openLivenessCheck(
  { liveness }: Pick<ModelSet, 'liveness'>,
  sessions: ModelSessions,
): Promise<LivenessCheck> {
  const models =
    liveness === 'builtin'
      ? [await openBuiltinAntiSpoof(sessions)]
      : await Promise.all(liveness.map((model) => openInstalledAntiSpoof(model, sessions)))
  const mean = (valueOf: (model: AntiSpoofModel, index: number) => number): number =>
    models.reduce((sum, model, index) => sum + valueOf(model, index), 0) / models.length
  const thresholds = {
    liveMin: mean(({ liveMin }) => liveMin),
    spoofMax: mean(({ spoofMax }) => spoofMax),
  }
  const contextMin = Math.max(...models.map((model) => model.contextMin))
  return {
    providers: models.map(({ providerId }) => providerId).join('+'),
    async check(face, context) {
      const scores: AntiSpoofScore[] = []
      for (const { predict } of models) scores.push(await predict(face, context))
      return {
        // To the digits of the response, so that a reported 0.5 is never below the limit of 0.5.
        score: roundTo(
          mean((_, index) => scores[index]?.score ?? 0),
          4,
        ),
        ...thresholds,
        networks: Object.assign({}, ...scores.map(({ componentScores }) => componentScores)),
        isBuiltin: liveness === 'builtin',
        hasContext: cropFactorMax(meshBounds(face.mesh), context.image.frame) >= contextMin,
        hasColour: colourfulness(face.mesh) >= colourMin,
      }
    },
  }
}

/** Returns the mean difference between the largest and the smallest channel in the mesh crop. */
function colourfulness({ crop: { planes, width, height } }: Mesh): number {
  const size = width * height
  let sum = 0
  for (let i = 0; i < size; i++) {
    const red = planes[i] ?? 0
    const green = planes[i + size] ?? 0
    const blue = planes[i + 2 * size] ?? 0
    sum += Math.max(red, green, blue) - Math.min(red, green, blue)
  }
  return sum / size
}

/** Of 0..255. A grey JPEG has 0 to 2. */
const colourMin = 8

const { liveness } = builtinPack.models
const { constants } = liveness

/**
 * Opens the built-in network, which runs on six crops of the face. A logistic fit combines the
 * results. The score is a weak signal: docs/liveness.md describes its training data and error rates.
 */
async function openBuiltinAntiSpoof(sessions: ModelSessions): Promise<AntiSpoofModel> {
  const session = await sessions.openBuiltin('liveness')
  const { input } = session
  const providerId = formatProviders([liveness])
  return {
    providerId,
    liveMin: constants.liveMin,
    spoofMax: constants.spoofMax,
    contextMin: constants.contextMin,
    async predict(face, { pyramid }) {
      const box = meshBounds(face.mesh)
      const longer = Math.max(box.width, box.height)
      const componentScores: Record<string, number> = {}
      let sum: number = constants.bias
      for (const { cropFactor, weight } of constants.crops) {
        const square = squareAround(centreOf(box), cropFactor * longer)
        const crop = await pyramid.sample(cropTransform(square, input), input)
        const share =
          requireOutput(await session.run(toTensor(crop, input)), 'probabilities')[0] ?? 0
        componentScores[`${providerId} at ${cropFactor}`] = share
        sum += weight * logOdds(share)
      }
      return { score: 1 / (1 + Math.exp(-sum)), componentScores }
    },
  }
}

/** Limits the probability to 0.001..0.999, because more extreme values carry no information. */
export function logOdds(share: number): number {
  const bounded = Math.min(0.999, Math.max(0.001, share))
  return Math.log(bounded / (1 - bounded))
}

/**
 * Opens an anti-spoofing network of an installed pack.
 *
 * @throws Error naming the file if it is not such a network.
 */
async function openInstalledAntiSpoof(
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
