/** `reference` is a fixed computation in the load process: its drift is that of the machine. */
export type LatencyKind = 'image call' | 'call without image' | 'reference'

export type LatencySample = { readonly atMs: number; readonly durationMs: number }

/** The durations of the accepted calls, by kind. */
export type Latencies = {
  readonly record: (kind: LatencyKind, startMs: number) => void
  readonly of: (kind: LatencyKind) => readonly LatencySample[]
}

export const latencyKinds = ['image call', 'call without image', 'reference'] as const

export function createLatencies(): Latencies {
  const samples: Readonly<Record<LatencyKind, LatencySample[]>> = {
    'image call': [],
    'call without image': [],
    reference: [],
  }
  return {
    record: (kind, startMs) => {
      const endMs = performance.now()
      samples[kind].push({ atMs: Date.now(), durationMs: endMs - startMs })
    },
    of: (kind) => samples[kind],
  }
}

/** The percentiles of the first and of the last third of a period. */
export type Drift = {
  readonly count: number
  readonly first: Percentiles
  readonly last: Percentiles
}

export type Percentiles = { readonly p50Ms: number; readonly p99Ms: number }

export function latencyDrift(
  samples: readonly LatencySample[],
  [fromMs, toMs]: readonly [number, number],
): Drift {
  const third = (toMs - fromMs) / 3
  const between = (startMs: number, endMs: number): Percentiles =>
    percentiles(
      samples
        .filter(({ atMs }) => atMs >= startMs && atMs < endMs)
        .map((sample) => sample.durationMs),
    )
  return {
    count: samples.filter(({ atMs }) => atMs >= fromMs && atMs < toMs).length,
    first: between(fromMs, fromMs + third),
    last: between(toMs - third, toMs),
  }
}

function percentiles(values: readonly number[]): Percentiles {
  const sorted = values.toSorted((a, b) => a - b)
  const at = (share: number): number => sorted[Math.floor(sorted.length * share)] ?? Number.NaN
  return { p50Ms: at(0.5), p99Ms: at(0.99) }
}
