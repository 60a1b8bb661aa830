import { attemptCheck } from './attempt.ts'
import { LivenessError } from './liveness-check.ts'
import type { LivenessOutcome, LivenessVerdict, PageServer } from './liveness-check.ts'
import { defaultTimes, type RecordingTimes } from './record-frames.ts'
import { englishTexts, type LivenessTexts } from './texts.ts'
import { createView, type LivenessView } from './view.ts'
import { waitMs } from './wait.ts'

export type LivenessCheckOptions<Verdict extends LivenessVerdict> = PageServer<Verdict> & {
  /** The element of the page that the component is added to. */
  readonly container: HTMLElement
  /** Replaces English texts. */
  readonly texts?: Partial<LivenessTexts> | undefined
  readonly times?: Partial<RecordingTimes> | undefined
  /** Receives every failed attempt, for the log of the page. */
  readonly onProblem?: ((error: LivenessError) => void) | undefined
  /** Closes the component. */
  readonly signal?: AbortSignal | undefined
}

/**
 * Shows the camera component, guides a person through a session and returns the result. After a
 * failure the person can try again, with a new session. The component is removed at the end.
 *
 * @throws Error if a function of the options throws something that is not a failed request, or the
 *   reason of `signal`.
 */
export async function runLivenessCheck<Verdict extends LivenessVerdict>(
  options: LivenessCheckOptions<Verdict>,
): Promise<LivenessOutcome<Verdict>> {
  const view = createView(options.container, { ...englishTexts, ...options.texts })
  const closed = new AbortController()
  view.onClose(() => closed.abort())
  const signals = [closed.signal, ...(options.signal ? [options.signal] : [])]
  const state: { verdict: Verdict | undefined } = { verdict: undefined }
  try {
    const run = repeatAttempts({ ...options, view, signal: AbortSignal.any(signals) }, state)
    const verdict = await Promise.race([run, rejectOnAbort(signals)])
    return { status: 'passed', verdict }
  } catch (error) {
    if (!closed.signal.aborted) throw error
    return { status: 'closed', verdict: state.verdict }
  } finally {
    closed.abort()
    view.remove()
  }
}

type RunOptions<Verdict extends LivenessVerdict> = LivenessCheckOptions<Verdict> & {
  readonly view: LivenessView
  readonly signal: AbortSignal
}

/** Repeats attempts until one is passed. Keeps the last verdict in `state`. */
async function repeatAttempts<Verdict extends LivenessVerdict>(
  options: RunOptions<Verdict>,
  state: { verdict: Verdict | undefined },
): Promise<Verdict> {
  const { view, signal } = options
  const times = { ...defaultTimes, ...options.times }
  await view.showIntroduction()
  for (;;) {
    try {
      const verdict = await attemptCheck({ ...options, times })
      state.verdict = verdict
      if (verdict.live) {
        view.showPassed()
        await waitMs(passedTextMs, signal)
        return verdict
      }
      await view.showProblem('notLive', verdict)
    } catch (error) {
      signal.throwIfAborted()
      if (!(error instanceof LivenessError)) throw error
      options.onProblem?.(error)
      await view.showProblem(error.problem)
    }
  }
}

/** For how long the success is shown before the component is removed. */
const passedTextMs = 1_200

function rejectOnAbort(signals: readonly AbortSignal[]): Promise<never> {
  return new Promise((_, reject) => {
    for (const signal of signals)
      signal.addEventListener('abort', () => reject(signal.reason as Error), { once: true })
  })
}
