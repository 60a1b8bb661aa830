import { encodeFrame, type Camera, type CameraFrame } from './camera.ts'
import { guideFrontal, guideStep, type Guidance, type RequestedStep } from './guidance.ts'
import { LivenessError } from './liveness-check.ts'
import type {
  FrameCheck,
  LivenessStep,
  LivenessTransport,
  SessionProgress,
} from './liveness-check.ts'
import { waitMs } from './wait.ts'

/** The times of one recording in milliseconds. */
export type RecordingTimes = {
  /** From an instruction to the first picture: the person reads it and moves. */
  readonly moveMs: number
  /** Without guidance: for how long pictures are taken; the sharpest ones are kept. */
  readonly holdMs: number
}

/** Two seconds suffice for one head turn; then the sharpest pictures of one second are kept. */
export const defaultTimes: RecordingTimes = { moveMs: 1_800, holdMs: 1_000 }

const frameIntervalMs = 100
/** A second frame of each step, in case the head moves or the eyes close in the first. */
const framesPerStepMax = 2

export type RecordingOptions = {
  readonly camera: Camera
  readonly session: SessionProgress
  readonly times: RecordingTimes
  readonly checkFrame: LivenessTransport['checkFrame']
  /** Shows the instruction of a step; undefined is the frontal picture before the first step. */
  readonly showStep: (step: LivenessStep | undefined, index: number) => void
  readonly showGuidance: (guidance: Guidance) => void
  readonly signal: AbortSignal
}

/**
 * Records the frames of an attempt in the order of its steps. With guidance: one frame for each
 * position, as soon as the service sees it. Without guidance: one frontal frame, then up to two for
 * each step, after a fixed time.
 *
 * @returns JPEG files, at most `framesMax`.
 * @throws LivenessError cameraStopped, notReady; serverFailed for requested angles without guidance;
 *   the reason of the signal when it aborts.
 */
export async function recordFrames(options: RecordingOptions): Promise<Blob[]> {
  const { steps, angles, framesMax } = options.session
  const perStep = Math.min(framesPerStepMax, Math.floor((framesMax - 1) / steps.length))
  const frames: Blob[] = []
  let isGuided = options.checkFrame !== undefined
  let first: FrameCheck['face'] = null
  for (const [position, step] of [undefined, ...steps].entries()) {
    options.showStep(step, Math.max(0, position - 1))
    const guided: GuidedFrame | undefined = isGuided
      ? await recordGuided(options, step && { step, angle: angles[position - 1] }, first)
      : undefined
    if (guided) {
      first ??= guided.check.face
      frames.push(guided.blob)
      continue
    }
    if (angles.length > 0) throw new LivenessError('serverFailed', { cause: new Error(unguided) })
    isGuided = false
    frames.push(...(await recordTimed(options, step === undefined ? 1 : perStep)))
  }
  return frames
}

const unguided =
  'the session requests angles, and no frame was checked: the transport has no checkFrame, or the service refused a check; create the session with requireAngles: false for a page without guidance'

type GuidedFrame = { readonly blob: Blob; readonly check: FrameCheck; readonly share: number }

/** A person who needs longer gets the cause from the service. */
const checksPerStepMax = 12
/** A requested angle is approached from both sides, and then held. */
const checksPerAngleMax = 16
/** From this check on, a frontal frame with poor light is accepted. */
const lateCheck = 5
/** A guided person is seen as soon as the head moves. */
const guidedMoveShare = 0.3
const guidedHoldMs = 250

/**
 * Takes frames until one shows the position; a requested angle must be held for two of them, so that
 * a head that only passes it is not accepted.
 *
 * @returns the frame that shows most of the movement; undefined if the service gives no guidance.
 */
async function recordGuided(
  options: RecordingOptions,
  requested: RequestedStep | undefined,
  first: FrameCheck['face'],
): Promise<GuidedFrame | undefined> {
  const { times, signal, checkFrame, showGuidance } = options
  await waitMs(times.moveMs * guidedMoveShare, signal)
  let best: GuidedFrame | undefined
  let isHeld = requested?.angle === undefined
  const countMax = isHeld ? checksPerStepMax : checksPerAngleMax
  for (let count = 0; count < countMax; count++) {
    const frame = await takeSharpest(options, Math.min(guidedHoldMs, times.holdMs))
    const blob = await encodeFrame(frame)
    const check = await checkFrame?.(blob, signal)
    if (!check) return undefined
    const guidance =
      requested && first
        ? guideStep(requested, check, first)
        : guideFrontal(check, count >= lateCheck)
    const { share } = guidance
    showGuidance(share === 1 && !isHeld ? { share, hint: 'hold' } : guidance)
    if (!best || share >= best.share) best = { blob, check, share }
    if (share === 1 && isHeld) return best
    isHeld = share === 1 || requested?.angle === undefined
  }
  if (requested === undefined) throw new LivenessError('notReady', undefined, best?.check.causes)
  return best
}

/** Returns the sharpest pictures of one step, in the order in which they were taken. */
async function recordTimed(options: RecordingOptions, count: number): Promise<readonly Blob[]> {
  const { times, signal } = options
  await waitMs(times.moveMs, signal)
  const frames: Blob[] = []
  for (let part = 0; part < count; part++)
    frames.push(await encodeFrame(await takeSharpest(options, times.holdMs / count)))
  return frames
}

async function takeSharpest(
  { camera, signal }: Pick<RecordingOptions, 'camera' | 'signal'>,
  durationMs: number,
): Promise<CameraFrame> {
  let best: CameraFrame | undefined
  const endMs = performance.now() + durationMs
  do {
    if (!camera.isRunning()) throw new LivenessError('cameraStopped')
    const frame = camera.takeFrame()
    if (!best || frame.sharpness > best.sharpness) best = frame
    await waitMs(frameIntervalMs, signal)
  } while (performance.now() < endMs)
  return best
}
