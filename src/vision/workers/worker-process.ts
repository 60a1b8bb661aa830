import { ActionError, toProblem } from '../../lib/errors.ts'
import type { Log } from '../../lib/log.ts'
import type { ImageAnalysis } from '../image-analysis.ts'
import { serializeJob, type AnalysisJob } from './ipc/messages.ts'
import type { VisionPoolLimits } from './vision-pool-limits.ts'
import {
  openWorkerConnection,
  type WorkerConnection,
  type WorkerConnectionOptions,
  type WorkerLostError,
} from './worker-connection.ts'

/** A worker that has started. */
export type WorkerProcess = ReturnType<typeof createWorkerProcess>

type WorkerProcessOptions = WorkerConnectionOptions & {
  readonly limits: RecycleLimits & Pick<VisionPoolLimits, 'startMsMax' | 'jobMsMax'>
  readonly log: Pick<Log, 'warn' | 'error'>
}

/**
 * Resolves when the worker is ready for its first job.
 *
 * @throws WorkerLostError if it exits before, or is not ready in time.
 */
export async function startWorker(options: WorkerProcessOptions) {
  const connection = openWorkerConnection(options)
  const { kind } = await connection.request(undefined, options.limits.startMsMax)
  if (kind !== 'ready') throw await connection.kill(`sent "${kind}" before "ready"`)
  return createWorkerProcess(connection, options)
}

function createWorkerProcess(connection: WorkerConnection, { limits, log }: WorkerProcessOptions) {
  const { pid, isBusy, isLost, exited } = connection
  const isRecycleDueAfter = createRecyclePolicy(limits)
  const replacementDue = Promise.withResolvers<'recycle' | WorkerLostError>()
  void exited.then(replacementDue.resolve)
  let jobs = 0
  let rssBytes: number | null = null

  /**
   * Analyzes one image. The worker must not be busy.
   *
   * @throws WorkerLostError if the worker crashed, its memory was exhausted or it was killed because
   *   of a timeout.
   * @throws ActionError as the pipeline does. Any other error is a bug in the worker.
   */
  async function run(job: AnalysisJob): Promise<ImageAnalysis> {
    const reply = await connection.request(serializeJob(job), limits.jobMsMax)
    if (reply.kind === 'ready') throw await connection.kill('sent "ready" twice')
    jobs += 1
    rssBytes = reply.rssBytes
    if (isRecycleDueAfter(reply.rssBytes)) replacementDue.resolve('recycle')
    if (reply.kind === 'analysis') return reply.analysis
    if (reply.kind === 'actionError')
      throw new ActionError(reply.code, reply.problems.map(toProblem))
    log.error({ workerPid: pid, stack: reply.stack }, 'unexpected error in a vision worker')
    if (exhaustedMemory.test(reply.stack)) throw await connection.kill('its memory was exhausted')
    throw new Error('unexpected error in a vision worker')
  }

  return {
    pid,
    isBusy,
    isLost,
    /** Finished jobs. */
    jobs: () => jobs,
    /** Resident memory after the last job; null before the first. */
    rssBytes: () => rssBytes,
    run,
    /** Resolves when the worker must be replaced: 'recycle', or the error with which it was lost. */
    replacementDue: replacementDue.promise,
    /** Resolves when the process has exited. */
    exited,
    /** Kills the process and resolves when it has exited. */
    kill: async () => void (await connection.kill('stopped by the server')),
  }
}

/** The errors of V8, of C++, of ONNX Runtime and of libvips when an allocation fails. */
const exhaustedMemory =
  /Array buffer allocation failed|bad_?alloc|Failed to allocate memory|out of memory/iu

type RecycleLimits = Pick<
  VisionPoolLimits,
  'workerJobsMax' | 'workerGrowthMax' | 'workerWarmUpJobs'
>

/**
 * Decides when one worker is replaced. Inference runtimes and image libraries keep memory in pools
 * that grow with the variety of inputs, and sometimes leak. A new process costs less than finding
 * the leak.
 *
 * @returns a function that records one finished job, with the resident memory of the worker after it,
 *   and returns whether the worker must be replaced.
 */
export function createRecyclePolicy(limits: RecycleLimits): (rssBytes: number) => boolean {
  let jobs = 0
  let warmRssBytes = 0
  return (rssBytes) => {
    jobs += 1
    // A new worker has not used most of its memory yet, so the baseline is set during warm-up.
    if (jobs <= limits.workerWarmUpJobs) warmRssBytes = Math.max(warmRssBytes, rssBytes)
    return jobs >= limits.workerJobsMax || rssBytes > limits.workerGrowthMax * warmRssBytes
  }
}
