import { sizeOf } from '../convert/onnx/layout.ts'
import type { GoldenOutput, BuiltinModel, ModelInput } from './builtin-model.ts'

/**
 * Returns the fixed test input of a model: the flat tensor `[1, channels, height, width]`.
 *
 * The image is an integer formula, so it is bit-identical on every machine: pixel `(x, y)` of channel
 * `c` (0, 1, 2 in the order of the tensor) is `96 + ⌊wave(s) / 4⌋` with
 * `s = (1 + c)·x + (3 − c)·y + ⌊x·y / 16⌋`, where `wave` rises from 0 to 255 and falls back in 512
 * steps. Each channel has gradients in another direction that become finer to the bottom right, so an
 * exchange of axes or channels is detected. The contrast is low, so that few probabilities saturate at
 * 0 or 1 (chosen among eight such formulas for this property).
 */
export function goldenInput({ input }: { readonly input: GoldenInputOptions }): Float32Array {
  const { width, height, mean, scale } = input
  const tensor = new Float32Array(mean.length * height * width)
  let index = 0
  for (const [channel, channelMean] of mean.entries())
    for (let y = 0; y < height; y++)
      for (let x = 0; x < width; x++)
        tensor[index++] = (goldenPixel(x, y, channel) - channelMean) * scale
  return tensor
}

/** The fields of a model input that determine its values. */
type GoldenInputOptions = Pick<ModelInput, 'width' | 'height' | 'mean' | 'scale'>

/**
 * Compares the outputs of one run on `goldenInput` (name → flat float32 values) with the expected
 * outputs. Returns the first mismatch, or `undefined` when all outputs match.
 */
export function goldenMismatch(
  entry: Pick<BuiltinModel, 'id' | 'outputs' | 'golden'>,
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
      return `${entry.id}: ${name} differs by ${difference}, more than ${expected.tolerance}`
  }
  return undefined
}

const samplesMax = 16

function goldenPixel(x: number, y: number, channel: number): number {
  const step = ((1 + channel) * x + (3 - channel) * y + ((x * y) >> 4)) % 512
  const wave = step < 256 ? step : 511 - step
  return 96 + (wave >> 2)
}

type OutputSummary = Pick<GoldenOutput, 'samples' | 'meanAbsolute'>

/** Returns up to 16 values at equal distances, and the mean absolute value. */
export function summarize(values: ArrayLike<number>): OutputSummary {
  const list = Array.from(values)
  const count = Math.min(samplesMax, list.length)
  const step = count > 1 ? (list.length - 1) / (count - 1) : 0
  const samples = Array.from({ length: count }, (_, index) => list[Math.round(index * step)] ?? NaN)
  const sum = list.reduce((total, value) => total + Math.abs(value), 0)
  return { samples, meanAbsolute: sum / list.length }
}

/** Returns NaN when a value is missing or not a number: NaN exceeds every tolerance. */
function largestDifference(actual: OutputSummary, expected: OutputSummary): number {
  const differences = expected.samples.map((sample, index) =>
    Math.abs(sample - (actual.samples[index] ?? NaN)),
  )
  return Math.max(Math.abs(expected.meanAbsolute - actual.meanAbsolute), ...differences)
}
