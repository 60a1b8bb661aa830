import { ActionError } from '../../lib/errors.ts'
import type { Log } from '../../lib/log.ts'
import { serializeJob } from './ipc/messages.ts'
import type { AnalysisJob } from './ipc/messages.ts'
import { openWorkerConnection } from './worker-connection.ts'
import type {
  WorkerConnection,
  WorkerConnectionOptions,
  WorkerLostError,
} from './worker-connection.ts'
import type { ImageAnalysis } from '../image-analysis.ts'
import { createRecyclePolicy } from './recycle-policy.ts'
import type { RecycleLimits } from './recycle-policy.ts'

/** A worker that is up. */
export type WorkerProcess = {
  readonly pid: number
  readonly isBusy: () => boolean
  readonly isLost: () => boolean
  /**
   * Has the worker look at one picture; it must not be busy.
   *
   * @throws WorkerLost when the worker died over it or was killed for taking too long.
   * @throws ActionError as the pipeline did; any other error is a fault of the worker's code.
   */
  readonly run: (job: AnalysisJob) => Promise<ImageAnalysis>
  /** Resolves when the worker should be replaced: it has aged, or it is gone and this is why. */
  readonly replacementDue: Promise<'worn' | WorkerLostError>
  /** Resolves when the process is gone. */
  readonly exited: Promise<WorkerLostError>
  /** Ends the process at once and resolves when it is gone. */
  readonly kill: () => Promise<void>
}

export type WorkerProcessOptions = WorkerConnectionOptions & {
  readonly limits: RecycleLimits & { readonly startMsMax: number; readonly jobMsMax: number }
  readonly log: Pick<Log, 'warn' | 'error'>
}

/** Resolves when the worker is ready for its first job. @throws WorkerLost if it never is. */
export async function startWorker(options: WorkerProcessOptions): Promise<WorkerProcess> {
  const line = openWorkerConnection(options)
  const { kind } = await line.request(undefined, options.limits.startMsMax)
  if (kind !== 'ready') throw await line.kill(`said "${kind}" before "ready"`)
  return createWorkerProcess(line, options)
}

function createWorkerProcess(
  line: WorkerConnection,
  { limits, log }: WorkerProcessOptions,
): WorkerProcess {
  const { pid, isBusy, isLost, exited: gone } = line
  const wear = createRecyclePolicy(limits)
  const spent = Promise.withResolvers<'worn' | WorkerLostError>()
  void gone.then(spent.resolve)

  async function run(job: AnalysisJob): Promise<ImageAnalysis> {
    const answer = await line.request(serializeJob(job), limits.jobMsMax)
    if (answer.kind === 'ready') throw await line.kill('said "ready" twice')
    if (wear.isRecycleDueAfter(answer.rssBytes)) spent.resolve('worn')
    if (answer.kind === 'view') return answer.view
    if (answer.kind === 'problem') throw new ActionError(answer.code, answer.messages)
    log.error({ workerPid: pid, fault: answer.stack }, 'a vision worker met a fault')
    throw new Error('a vision worker met a fault')
  }

  const end = async () => void (await line.kill('was ended'))
  return { pid, isBusy, isLost, run, replacementDue: spent.promise, exited: gone, kill: end }
}
