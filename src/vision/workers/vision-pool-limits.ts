/** The limits of the vision pool, with their defaults. */
export const visionPoolLimits = {
  /** Calls that may wait, per worker: more would wait longer than `queueWaitMsMax` anyway. */
  queuePerWorkerMax: 4,
  /** Base64 characters that may wait in all. */
  queueBytesMax: 256 * 1024 * 1024,
  /** The longest that a call waits for a worker. */
  queueWaitMsMax: 2_000,
  /** A job that runs longer costs the worker its life. */
  jobMsMax: 5_000,
  /** A worker that is not ready by then is given up. */
  startMsMax: 30_000,
  /** Jobs after which a worker is replaced. */
  workerJobsMax: 5_000,
  /** Resident memory at which a worker is replaced, as a multiple of that after warm-up. */
  workerGrowthMax: 1.5,
  /** The first jobs of a worker, in which memory pools fill up and caches warm. */
  workerWarmUpJobs: 20,
  /** Workers that a picture may kill before it is refused. */
  quarantineCrashesMax: 2,
  /** A picture that has killed no worker for so long is forgotten. */
  quarantineMs: 10 * 60 * 1_000,
} as const

export type VisionPoolLimits = { readonly [name in keyof typeof visionPoolLimits]: number }
