import { sizeOf } from '../convert/onnx/layout.ts'
import type { Golden, GoldenOutput, BuiltinModel, ModelInput } from './builtin-model.ts'

/**
 * The fixed input of a model: its tensor `[1, channels, height, width]`, flat.
 *
 * The picture is a formula in whole numbers, so that it is the same to the bit everywhere: pixel
 * `(x, y)` of channel `c` (0, 1, 2 in the tensor's order) is `96 + ⌊wave(s) / 4⌋` of
 * `s = (1 + c)·x + (3 − c)·y + ⌊x·y / 16⌋`, where `wave` climbs from 0 to 255 and back in 512 steps.
 * These are slopes of another direction in each channel that get finer to the bottom right, so that
 * axes and channels cannot be exchanged unseen; and they are pale, so that hardly a probability comes
 * out so near 0 or 1 that it says nothing (chosen among eight such formulas for that).
 */
export function goldenInput({ input }: { readonly input: GoldenInputOptions }): Float32Array {
  const { width, height, mean, scale } = input
  const tensor = new Float32Array(mean.length * height * width)
  let written = 0
  for (const [channel, channelMean] of mean.entries())
    for (let y = 0; y < height; y++)
      for (let x = 0; x < width; x++)
        tensor[written++] = (goldenPixel(x, y, channel) - channelMean) * scale
  return tensor
}

/** What a picture is made into, as far as its numbers go. */
type GoldenInputOptions = Pick<ModelInput, 'width' | 'height' | 'mean' | 'scale'>

/** The shape of `goldenInput`, the batch of one in front. */
export function goldenInputShape({ mean, height, width }: ModelInput): readonly number[] {
  return [1, mean.length, height, width]
}

/**
 * Says what is wrong with `outputs` (name → flat float32 values of one run on `goldenInput`), or
 * `undefined` when the network computes what it should.
 */
export function goldenMismatch(
  entry: BuiltinModel,
  outputs: Readonly<Record<string, ArrayLike<number>>>,
): string | undefined {
  for (const { name, shape } of entry.outputs) {
    const values = outputs[name]
    const expected = entry.golden[name]
    if (!values || !expected) return `${entry.id} has no output ${name}`
    if (values.length !== sizeOf(shape))
      return `${entry.id}: ${name} has ${values.length} values instead of ${sizeOf(shape)}`
    const difference = largestDifference(summarize(values), expected)
    if (!(difference <= expected.tolerance))
      return `${entry.id}: ${name} is off by ${difference}, more than ${expected.tolerance}`
  }
  return undefined
}

/** The golden of `outputs`, as the manifest keeps it. */
export function createGolden(outputs: Readonly<Record<string, ArrayLike<number>>>): Golden {
  return Object.fromEntries(
    Object.entries(outputs).map(([name, values]) => {
      const { samples, meanAbsolute } = summarize(values)
      return [name, { samples, meanAbsolute, tolerance: toleranceShare * meanAbsolute }]
    }),
  )
}

/**
 * Of the mean absolute value. onnxruntime and TensorFlow.js, which add in another order, differ by a
 * tenth of this at the most; channels in the wrong order, axes exchanged or a wrong scale of the input
 * exceed it for every model of the pack. (A few wrong weights may not: the checksum sees those.)
 */
const toleranceShare = 2e-3

const samplesMax = 16

function goldenPixel(x: number, y: number, channel: number): number {
  const step = ((1 + channel) * x + (3 - channel) * y + ((x * y) >> 4)) % 512
  const wave = step < 256 ? step : 511 - step
  return 96 + (wave >> 2)
}

type OutputSummary = Pick<GoldenOutput, 'samples' | 'meanAbsolute'>

function summarize(values: ArrayLike<number>): OutputSummary {
  const list = Array.from(values)
  const count = Math.min(samplesMax, list.length)
  const step = count > 1 ? (list.length - 1) / (count - 1) : 0
  const samples = Array.from({ length: count }, (_, index) => list[Math.round(index * step)] ?? NaN)
  const sum = list.reduce((total, value) => total + Math.abs(value), 0)
  return { samples, meanAbsolute: sum / list.length }
}

/** NaN when a value is missing or not a number: it is within no tolerance. */
function largestDifference(actual: OutputSummary, expected: OutputSummary): number {
  const differences = expected.samples.map((sample, index) =>
    Math.abs(sample - (actual.samples[index] ?? NaN)),
  )
  return Math.max(Math.abs(expected.meanAbsolute - actual.meanAbsolute), ...differences)
}
