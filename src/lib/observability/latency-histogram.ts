/**
 * Counts of call latencies in buckets that grow by 2^(1/4). The error of a percentile is at most the
 * width of a bucket, 19 %. The first bucket ends at 0.1 ms; the last contains everything above 74 s.
 */
export type LatencyHistogram = Uint32Array

const bucketCount = 80
const firstMs = 0.1
const stepsPerOctave = 4

/** The maximum relative error of a percentile. */
export const latencyRelativeErrorMax = 2 ** (1 / stepsPerOctave) - 1

export function createLatencyHistogram(): LatencyHistogram {
  return new Uint32Array(bucketCount)
}

/** Adds one call. */
export function recordLatency(histogram: LatencyHistogram, latencyMs: number): void {
  const bucket = latencyBucketOf(latencyMs)
  histogram[bucket] = (histogram[bucket] ?? 0) + 1
}

/** Returns the index of the bucket of a latency, from 0. */
export function latencyBucketOf(latencyMs: number): number {
  const step = Math.ceil(stepsPerOctave * Math.log2(Math.max(latencyMs, firstMs) / firstMs))
  return Math.min(step, bucketCount - 1)
}

/** Adds the counts of another histogram. */
export function addHistogram(histogram: LatencyHistogram, other: LatencyHistogram): void {
  for (let bucket = 0; bucket < bucketCount; bucket++)
    histogram[bucket] = (histogram[bucket] ?? 0) + (other[bucket] ?? 0)
}

/** Encodes the counts for the database: 32-bit, little-endian. */
export function packLatencies(histogram: LatencyHistogram): Uint8Array {
  return new Uint8Array(histogram.buffer, histogram.byteOffset, histogram.byteLength)
}

/** Decodes a copy of the bytes of `packLatencies`. Missing bytes of a damaged row count as zeros. */
export function unpackLatencies(bytes: Uint8Array): LatencyHistogram {
  const histogram = createLatencyHistogram()
  new Uint8Array(histogram.buffer).set(bytes.subarray(0, histogram.byteLength))
  return histogram
}

/**
 * Returns the latency in ms that the given fraction of calls did not exceed; null without calls. Within
 * a bucket, calls are assumed to be distributed evenly on a logarithmic scale.
 */
export function latencyPercentileMs(histogram: LatencyHistogram, fraction: number): number | null {
  const total = histogram.reduce((sum, count) => sum + count, 0)
  if (total === 0) return null
  const rank = fraction * total
  let below = 0
  for (const [bucket, count] of histogram.entries()) {
    if (count > 0 && below + count >= rank) {
      const within = (rank - below) / count
      return firstMs * 2 ** ((bucket - 1 + within) / stepsPerOctave)
    }
    below += count
  }
  return firstMs * 2 ** ((bucketCount - 1) / stepsPerOctave)
}
