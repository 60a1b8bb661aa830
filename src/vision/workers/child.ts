import { ActionError } from '../../lib/errors.ts'
import type { Log } from '../../lib/log.ts'
import { packJob } from './job.ts'
import type { Job } from './job.ts'
import { openLine } from './line.ts'
import type { Line, LineOptions, WorkerLost } from './line.ts'
import type { View } from '../view.ts'
import { createWear } from './wear.ts'
import type { WearLimits } from './wear.ts'

/** A worker that is up. */
export type Child = {
  readonly pid: number
  readonly isBusy: () => boolean
  readonly isLost: () => boolean
  /**
   * Has the worker look at one picture; it must not be busy.
   *
   * @throws WorkerLost when the worker died over it or was killed for taking too long.
   * @throws ActionError as the pipeline did; any other error is a fault of the worker's code.
   */
  readonly run: (job: Job) => Promise<View>
  /** Resolves when the worker should be replaced: it has aged, or it is gone and this is why. */
  readonly spent: Promise<'worn' | WorkerLost>
  /** Resolves when the process is gone. */
  readonly gone: Promise<WorkerLost>
  /** Ends the process at once and resolves when it is gone. */
  readonly end: () => Promise<void>
}

export type ChildOptions = LineOptions & {
  readonly limits: WearLimits & { readonly startMsMax: number; readonly jobMsMax: number }
  readonly log: Pick<Log, 'warn' | 'error'>
}

/** Resolves when the worker is ready for its first job. @throws WorkerLost if it never is. */
export async function startChild(options: ChildOptions): Promise<Child> {
  const line = openLine(options)
  const { kind } = await line.ask(undefined, options.limits.startMsMax)
  if (kind !== 'ready') throw await line.cut(`said "${kind}" before "ready"`)
  return createChild(line, options)
}

function createChild(line: Line, { limits, log }: ChildOptions): Child {
  const { pid, isBusy, isLost, gone } = line
  const wear = createWear(limits)
  const spent = Promise.withResolvers<'worn' | WorkerLost>()
  void gone.then(spent.resolve)

  async function run(job: Job): Promise<View> {
    const answer = await line.ask(packJob(job), limits.jobMsMax)
    if (answer.kind === 'ready') throw await line.cut('said "ready" twice')
    if (wear.isWornAfter(answer.rssBytes)) spent.resolve('worn')
    if (answer.kind === 'view') return answer.view
    if (answer.kind === 'problem') throw new ActionError(answer.code, answer.messages)
    log.error({ workerPid: pid, fault: answer.stack }, 'a vision worker met a fault')
    throw new Error('a vision worker met a fault')
  }

  const end = async () => void (await line.cut('was ended'))
  return { pid, isBusy, isLost, run, spent: spent.promise, gone, end }
}
