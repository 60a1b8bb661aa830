/** The value `v` is `round(v / scale) + zeroPoint`, 0 to 255. */
export type Rounding = { readonly scale: number; readonly zeroPoint: number }

/** Returns the rounding of an activation. Zero is exact, because padding is zero. */
export function activationRounding(range: readonly number[]): Rounding {
  const [low, high] = [Math.min(0, ...range), Math.max(0, ...range)]
  const scale = (high - low) / 255
  return { scale: Math.fround(scale), zeroPoint: Math.round(Math.abs(low) / scale) }
}

/** Filters as integers, with one scale for each output channel. */
export type RoundedFilters = { readonly integers: Int8Array; readonly scales: Float32Array }

/**
 * Rounds filters `[out, in, height, width]` to 8 bits. The scale is the smallest for which each weight
 * fits, and each sum of two weights of one sign in neighbouring input channels: x86 processors without
 * VNNI add the products of such a pair in 16 bits.
 */
export function roundFilters(shape: readonly number[], data: Float32Array): RoundedFilters {
  const [channels = 1, inputs = 1] = shape
  const perChannel = data.length / channels
  const scales = new Float32Array(channels)
  const integers = new Int8Array(data.length)
  for (let channel = 0; channel < channels; channel++) {
    const filter = data.subarray(channel * perChannel, (channel + 1) * perChannel)
    const scale = Math.fround(filterScale(filter, perChannel / inputs) || 1)
    scales[channel] = scale
    integers.set(
      filter.map((value) => Math.round(value / scale)),
      channel * perChannel,
    )
  }
  return { scales, integers }
}

/** @param window the number of weights of one input channel. */
function filterScale(filter: Float32Array, window: number): number {
  let scale = 0
  for (const [index, value] of filter.entries()) {
    const next = filter[index + window] ?? 0
    const sum = value * next > 0 ? Math.abs(value + next) : 0
    scale = Math.max(scale, Math.abs(value) / weightMax, sum / pairMax)
  }
  return scale
}

const weightMax = 127
/** 128 times 255 fits into 16 bits; the rounding of both weights can add 1. */
const pairMax = 127

/**
 * Returns how much lower the rounding of the filters makes the mean of each output channel. Inputs
 * behind an activation function are positive, so the errors of a filter do not cancel each other.
 *
 * @param inputMeans the mean of each input channel of the convolution, of all its groups.
 */
export function lostMeans(
  { shape, data }: { readonly shape: readonly number[]; readonly data: Float32Array },
  { integers, scales }: RoundedFilters,
  inputMeans: Float32Array,
): Float64Array {
  const [channels = 1, inputs = 1] = shape
  const perChannel = data.length / channels
  const perGroup = (channels * inputs) / inputMeans.length
  const lost = new Float64Array(channels)
  for (const [index, value] of data.entries()) {
    const channel = Math.floor(index / perChannel)
    const input = Math.floor(((index % perChannel) * inputs) / perChannel)
    const mean = inputMeans[Math.floor(channel / perGroup) * inputs + input] ?? 0
    const error = value - (integers[index] ?? 0) * (scales[channel] ?? 0)
    lost[channel] = (lost[channel] ?? 0) + error * mean
  }
  return lost
}
