import { runAttempt, withEnd, type OpenSession } from './attempt.ts'
import { LivenessError } from './liveness-check.ts'
import type { JudgedAttempt, LivenessCauses, LivenessTransport } from './liveness-check.ts'
import type { RecordingTimes } from './record-frames.ts'
import type { LivenessView } from './view.ts'

/** The events of the component and their details. */
export type LivenessEvents = {
  /** The session was passed. The server of the page decides by reading the session. */
  readonly passed: { readonly sessionId: string }
  /** No attempt of the session is left. */
  readonly failed: { readonly sessionId: string; readonly causes: LivenessCauses }
  /** An attempt was not completed, for example without a camera. The person can try again. */
  readonly error: LivenessError
}

export type RunOptions = {
  readonly view: LivenessView
  readonly transport: LivenessTransport
  readonly times: RecordingTimes
  readonly emit: <Name extends keyof LivenessEvents>(
    name: Name,
    detail: LivenessEvents[Name],
  ) => void
  readonly signal: AbortSignal
}

/**
 * Guides a person through the attempts of a session, until it is passed or no attempt is left. If the
 * transport can create another session, the person can start again.
 *
 * @throws the reason of `signal` when it aborts.
 */
export async function runSession(options: RunOptions): Promise<void> {
  const { view, transport, signal, emit } = options
  let opened: OpenSession | undefined
  const openSession = async (attemptSignal: AbortSignal): Promise<OpenSession> => {
    if (opened && performance.now() > opened.endMs) throw new LivenessError('timeOver')
    opened ??= withEnd(await transport.open(attemptSignal))
    if (opened.session.state !== 'open') throw new LivenessError('timeOver')
    return opened
  }
  await view.showIntroduction(signal)
  for (;;) {
    try {
      const result = await runAttempt({ ...options, openSession })
      if (!result) continue
      if (await endAttempt(options, result)) return
      opened = result.state === 'open' ? withEnd(result) : undefined
    } catch (error) {
      signal.throwIfAborted()
      if (!(error instanceof LivenessError)) throw error
      emit('error', error)
      const isOver = error.problem === 'timeOver'
      if (isOver) opened = undefined
      const { problem, causes } = error
      if (isOver && !transport.canReopen) return view.showEnd(problem, { causes })
      await view.showProblem(problem, { causes }, signal)
    }
  }
}

/** Shows the result of an attempt. @returns whether the check has ended. */
async function endAttempt(
  { view, transport, emit, signal }: RunOptions,
  result: JudgedAttempt,
): Promise<boolean> {
  const { sessionId, state, causes } = result
  if (state === 'passed') {
    view.showPassed()
    emit('passed', { sessionId })
    return true
  }
  if (state === 'open') {
    await view.showProblem('notLive', result, signal)
    return false
  }
  emit('failed', { sessionId, causes })
  if (!transport.canReopen) {
    view.showEnd('notLive', result)
    return true
  }
  await view.showProblem('notLive', result, signal)
  return false
}
