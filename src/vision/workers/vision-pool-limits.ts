/** Limits that settings control; src/config.ts has their defaults. */
export type ConfiguredPoolLimits = {
  /** Waiting calls per worker. */
  readonly queuePerWorkerMax: number
  /** Base64 characters of all waiting calls. */
  readonly queueBytesMax: number
  /** Maximum wait of a call for a worker. */
  readonly queueWaitMsMax: number
  /** A worker is killed when one job takes longer. */
  readonly jobMsMax: number
  /** Jobs after which a worker is replaced. */
  readonly workerJobsMax: number
}

/** Limits without a setting, with their values. */
export const fixedPoolLimits = {
  /** A worker that is not ready by then is given up. A start takes 1 s on a server. */
  startMsMax: 120_000,
  /** Resident memory at which a worker is replaced, as a multiple of that after warm-up. */
  workerGrowthMax: 1.5,
  /** The number of warm-up jobs of a worker, during which memory pools and caches fill. */
  workerWarmUpJobs: 20,
  /** Number of workers that an image may crash before it is rejected. */
  quarantineCrashesMax: 2,
  /** Number of workers that images of one key, type and class of size may crash. */
  quarantineKindCrashesMax: 4,
  /** Time after that crash for which such images are rejected; each further crash doubles it. */
  quarantineKindPauseMs: 30 * 1_000,
  /** Time after the last crash for which an image, and at most its kind, stays in quarantine. */
  quarantineMs: 10 * 60 * 1_000,
} as const

type FixedPoolLimits = { readonly [name in keyof typeof fixedPoolLimits]: number }

export type VisionPoolLimits = ConfiguredPoolLimits & FixedPoolLimits

/** The configured limits, and any fixed limit that a caller overrides. */
export type VisionPoolLimitOptions = ConfiguredPoolLimits & Partial<FixedPoolLimits>
