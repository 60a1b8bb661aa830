/**
 * How long calls took, as counts of buckets that grow by 2^(1/4): a figure read from it is off by at
 * most the width of a bucket, 19 %. The first bucket ends at 0.1 ms, the last holds all beyond 74 s.
 */
export type LatencyHistogram = Uint32Array

const bucketCount = 80
const firstMs = 0.1
const stepsPerOctave = 4

/** Largest relative error of a percentile. */
export const latencyRelativeErrorMax = 2 ** (1 / stepsPerOctave) - 1

export function createLatencyHistogram(): LatencyHistogram {
  return new Uint32Array(bucketCount)
}

/** Counts one call. */
export function recordLatency(histogram: LatencyHistogram, latencyMs: number): void {
  const bucket = latencyBucketOf(latencyMs)
  histogram[bucket] = (histogram[bucket] ?? 0) + 1
}

/** The bucket that counts a call, from 0. */
export function latencyBucketOf(latencyMs: number): number {
  const step = Math.ceil(stepsPerOctave * Math.log2(Math.max(latencyMs, firstMs) / firstMs))
  return Math.min(step, bucketCount - 1)
}

/** Counts everything that another one has counted. */
export function addHistogram(histogram: LatencyHistogram, other: LatencyHistogram): void {
  for (let bucket = 0; bucket < bucketCount; bucket++)
    histogram[bucket] = (histogram[bucket] ?? 0) + (other[bucket] ?? 0)
}

/** As the database keeps it: 32-bit counts, little-endian. */
export function packLatencies(histogram: LatencyHistogram): Uint8Array {
  return new Uint8Array(histogram.buffer, histogram.byteOffset, histogram.byteLength)
}

/** @param bytes as `packLatencies` made them; they are copied, because they may lie anywhere. */
export function unpackLatencies(bytes: Uint8Array): LatencyHistogram {
  return new Uint32Array(bytes.slice().buffer)
}

/**
 * The latency that the given share of calls did not exceed, ms; between the borders of its bucket as
 * if calls lay evenly on a logarithmic scale. null when there is no call.
 */
export function latencyPercentileMs(histogram: LatencyHistogram, share: number): number | null {
  const total = histogram.reduce((sum, count) => sum + count, 0)
  if (total === 0) return null
  const wanted = share * total
  let below = 0
  for (const [bucket, count] of histogram.entries()) {
    if (count > 0 && below + count >= wanted) {
      const within = (wanted - below) / count
      return firstMs * 2 ** ((bucket - 1 + within) / stepsPerOctave)
    }
    below += count
  }
  return firstMs * 2 ** ((bucketCount - 1) / stepsPerOctave)
}
