import { openCamera } from './camera.ts'
import { LivenessError } from './liveness-check.ts'
import type { LivenessVerdict, PageServer, RequestedSession } from './liveness-check.ts'
import { recordFrames, type RecordingTimes } from './record-frames.ts'
import type { LivenessView } from './view.ts'

export type AttemptOptions<Verdict extends LivenessVerdict> = PageServer<Verdict> & {
  readonly view: LivenessView
  readonly times: RecordingTimes
  readonly signal: AbortSignal
}

/** The life of the steps of a session, ms. It applies if the clock of the browser contradicts `expiresAtUtc`. */
const stepsLifeMs = 120_000
/** The frames must arrive before the steps expire. */
const uploadReserveMs = 10_000

/**
 * Opens the camera, records the frames of a new attempt and has them judged. The camera is closed
 * before the frames are sent.
 *
 * @throws LivenessError for every failure that a person can act on.
 */
export async function attemptCheck<Verdict extends LivenessVerdict>(
  options: AttemptOptions<Verdict>,
): Promise<Verdict> {
  const { view, signal } = options
  view.showProgress('openingCamera')
  const camera = await openCamera(view.video)
  const limit = limitAttempt(signal)
  let session: RequestedSession
  let frames: Blob[]
  try {
    session = await reachServer(() => options.createSession(limit.signal), limit.signal)
    limit.expireAt(session.expiresAtUtc)
    const { steps } = session
    frames = await recordFrames({
      camera,
      session,
      times: options.times,
      showStep: (step, index) => view.showStep(step, index, steps.length),
      signal: limit.signal,
    })
  } finally {
    camera.close()
    limit.end()
  }
  view.showProgress('checking')
  return reachServer(() => options.submitFrames(session, frames, signal), signal)
}

/** Runs a request of the page; its failure gets a text for the person. */
async function reachServer<Value>(
  request: () => Promise<Value>,
  signal: AbortSignal,
): Promise<Value> {
  try {
    return await request()
  } catch (cause) {
    signal.throwIfAborted()
    throw cause instanceof LivenessError ? cause : new LivenessError('serverFailed', { cause })
  }
}

type AttemptLimit = {
  readonly signal: AbortSignal
  readonly expireAt: (expiresAtUtc: string | null) => void
  readonly end: () => void
}

/** Aborts an attempt when the caller aborts, the page is hidden or the steps expire. */
function limitAttempt(signal: AbortSignal): AttemptLimit {
  const controller = new AbortController()
  const abort = (): void => controller.abort(signal.reason)
  const abortHidden = (): void => {
    if (document.hidden) controller.abort(new LivenessError('pageHidden'))
  }
  let timer: ReturnType<typeof setTimeout> | undefined
  signal.addEventListener('abort', abort, { once: true })
  document.addEventListener('visibilitychange', abortHidden)
  return {
    signal: controller.signal,
    expireAt: (expiresAtUtc) => {
      const leftMs = Date.parse(expiresAtUtc ?? '') - Date.now()
      const lifeMs = leftMs > uploadReserveMs && leftMs < stepsLifeMs ? leftMs : stepsLifeMs
      const expire = (): void => controller.abort(new LivenessError('timeOver'))
      timer = setTimeout(expire, lifeMs - uploadReserveMs)
    },
    end: () => {
      clearTimeout(timer)
      signal.removeEventListener('abort', abort)
      document.removeEventListener('visibilitychange', abortHidden)
    },
  }
}
