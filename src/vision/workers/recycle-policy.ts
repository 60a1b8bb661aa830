export type RecycleLimits = {
  /** Jobs after which a worker is worn. */
  readonly workerJobsMax: number
  /** Resident memory at which a worker is worn, as a multiple of that after warm-up. */
  readonly workerGrowthMax: number
  /** The first jobs, in which memory pools fill up and caches warm. */
  readonly workerWarmUpJobs: number
}

export type RecyclePolicy = {
  /** Notes one more job, after which the worker held `rssBytes`; whether it should be replaced. */
  readonly isRecycleDueAfter: (rssBytes: number) => boolean
}

/**
 * Judges a worker's age. Inference runtimes and image libraries keep memory in pools that grow
 * with the variety of inputs, and now and then leak; a fresh process costs less than the search.
 */
export function createRecyclePolicy(limits: RecycleLimits): RecyclePolicy {
  let jobs = 0
  let warmRssBytes = 0

  function isWornAfter(rssBytes: number): boolean {
    jobs += 1
    // The first jobs set the measure: before any, a worker has not yet touched most of its memory.
    if (jobs <= limits.workerWarmUpJobs) warmRssBytes = Math.max(warmRssBytes, rssBytes)
    return jobs >= limits.workerJobsMax || rssBytes > limits.workerGrowthMax * warmRssBytes
  }

  return { isRecycleDueAfter: isWornAfter }
}
