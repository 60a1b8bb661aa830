/** The default limits of the vision pool. */
export const visionPoolLimits = {
  /** Waiting calls per worker. With more, calls would exceed `queueWaitMsMax` anyway. */
  queuePerWorkerMax: 4,
  /** Base64 characters of all waiting calls. */
  queueBytesMax: 256 * 1024 * 1024,
  /** The longest time that a call waits for a worker. */
  queueWaitMsMax: 2_000,
  /** The longest time of one job. After that the worker is killed. */
  jobMsMax: 5_000,
  /** The longest time until a new worker is ready. After that it is killed. */
  startMsMax: 30_000,
  /** The number of jobs after which a worker is replaced. */
  workerJobsMax: 5_000,
  /** Resident memory at which a worker is replaced, as a multiple of that after warm-up. */
  workerGrowthMax: 1.5,
  /** The number of warm-up jobs of a worker, during which memory pools and caches fill. */
  workerWarmUpJobs: 20,
  /** The number of worker crashes after which an image is rejected. */
  quarantineCrashesMax: 2,
  /** An image is accepted again this long after its last crash. */
  quarantineMs: 10 * 60 * 1_000,
} as const

export type VisionPoolLimits = { readonly [name in keyof typeof visionPoolLimits]: number }
