import { listCameras, openCamera } from './camera.ts'
import { LivenessError } from './liveness-check.ts'
import type { JudgedAttempt, LivenessTransport, SessionProgress } from './liveness-check.ts'
import { recordFrames, type RecordingTimes } from './record-frames.ts'
import type { LivenessView } from './view.ts'

/** A session whose steps can be shown until `endMs` of the clock of the page. */
export type OpenSession = { readonly session: SessionProgress; readonly endMs: number }

export type AttemptOptions = {
  readonly view: LivenessView
  readonly transport: LivenessTransport
  readonly times: RecordingTimes
  /** Gets the open session, or creates one. */
  readonly openSession: (signal: AbortSignal) => Promise<OpenSession>
  readonly signal: AbortSignal
}

/** The life of the steps of a session, ms. It applies if the clock of the browser contradicts `expiresAtUtc`. */
const stepsLifeMs = 120_000
/** The frames must arrive before the steps expire. */
const uploadReserveMs = 10_000

/** Returns a session with the time at which its frames must be recorded. */
export function withEnd(session: SessionProgress): OpenSession {
  const leftMs = Date.parse(session.expiresAtUtc ?? '') - Date.now()
  const lifeMs = leftMs > uploadReserveMs && leftMs < stepsLifeMs ? leftMs : stepsLifeMs
  return { session, endMs: performance.now() + lifeMs - uploadReserveMs }
}

/**
 * Opens the camera, records the frames of a new attempt and has them judged. The camera is closed
 * before the frames are sent.
 *
 * @returns undefined if the person has selected another camera: the attempt starts again.
 * @throws LivenessError for every failure that a person can act on.
 */
export async function runAttempt(options: AttemptOptions): Promise<JudgedAttempt | undefined> {
  const { view, transport, signal } = options
  view.showProgress('openingCamera')
  const limit = limitAttempt(view, signal)
  let session: SessionProgress
  let frames: Blob[]
  try {
    const camera = await openCamera(view.video, view.selectedCamera())
    try {
      limit.signal.throwIfAborted()
      view.showCameras(await listCameras(), camera.deviceId)
      const opened = await reachServer(() => options.openSession(limit.signal), limit.signal)
      limit.endAt(opened.endMs)
      ;({ session } = opened)
      frames = await record(options, { camera, session, signal: limit.signal })
    } finally {
      camera.close()
    }
  } catch (error) {
    if (limit.isCameraChanged() && !signal.aborted) return undefined
    throw error
  } finally {
    limit.end()
  }
  view.showProgress('checking')
  return reachServer(() => transport.sendFrames(session, frames, signal), signal)
}

function record(
  { view, transport, times }: AttemptOptions,
  options: Pick<Parameters<typeof recordFrames>[0], 'camera' | 'session' | 'signal'>,
): Promise<Blob[]> {
  const { checkFrame } = transport
  const { steps } = options.session
  return recordFrames({
    ...options,
    times,
    checkFrame:
      checkFrame &&
      ((frame, signal) => reachServer(() => checkFrame(frame, signal), options.signal)),
    showStep: (step, index) => view.showStep(step, index, steps.length),
    showGuidance: view.showGuidance,
  })
}

/** Runs a request; its failure gets a text for the person. */
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
  readonly endAt: (endMs: number) => void
  readonly isCameraChanged: () => boolean
  readonly end: () => void
}

/**
 * Aborts an attempt when the component is removed, the page is hidden, another camera is selected or
 * the steps expire.
 */
function limitAttempt(view: LivenessView, signal: AbortSignal): AttemptLimit {
  const controller = new AbortController()
  const cameraChanged = new Error('another camera was selected')
  const abort = (): void => controller.abort(signal.reason)
  const abortHidden = (): void => {
    if (document.hidden) controller.abort(new LivenessError('pageHidden'))
  }
  let timer: ReturnType<typeof setTimeout> | undefined
  signal.addEventListener('abort', abort, { once: true })
  document.addEventListener('visibilitychange', abortHidden)
  view.onCameraChange(() => controller.abort(cameraChanged), controller.signal)
  return {
    signal: controller.signal,
    endAt: (endMs) => {
      const expire = (): void => controller.abort(new LivenessError('timeOver'))
      timer = setTimeout(expire, Math.max(0, endMs - performance.now()))
    },
    isCameraChanged: () => controller.signal.reason === cameraChanged,
    end: () => {
      clearTimeout(timer)
      signal.removeEventListener('abort', abort)
      document.removeEventListener('visibilitychange', abortHidden)
    },
  }
}
