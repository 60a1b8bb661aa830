export type RecycleLimits = {
  /** The number of jobs after which a worker is replaced. */
  readonly workerJobsMax: number
  /** Resident memory at which a worker is replaced, as a multiple of that after warm-up. */
  readonly workerGrowthMax: number
  /** The number of warm-up jobs, during which memory pools and caches fill. */
  readonly workerWarmUpJobs: number
}

export type RecyclePolicy = {
  /**
   * Records one finished job; returns whether the worker must be replaced.
   *
   * @param rssBytes resident memory of the worker after the job.
   */
  readonly isRecycleDueAfter: (rssBytes: number) => boolean
}

/**
 * Decides when one worker is replaced. Inference runtimes and image libraries keep memory in pools
 * that grow with the variety of inputs, and sometimes leak. A new process costs less than finding
 * the leak.
 */
export function createRecyclePolicy(limits: RecycleLimits): RecyclePolicy {
  let jobs = 0
  let warmRssBytes = 0

  function isRecycleDueAfter(rssBytes: number): boolean {
    jobs += 1
    // A new worker has not used most of its memory yet, so the baseline is set during warm-up.
    if (jobs <= limits.workerWarmUpJobs) warmRssBytes = Math.max(warmRssBytes, rssBytes)
    return jobs >= limits.workerJobsMax || rssBytes > limits.workerGrowthMax * warmRssBytes
  }

  return { isRecycleDueAfter }
}
