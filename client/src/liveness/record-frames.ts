import { encodeFrame, type Camera, type CameraFrame } from './camera.ts'
import { LivenessError, type LivenessStep, type RequestedSession } from './liveness-check.ts'
import { waitMs } from './wait.ts'

/** The times of one recording in milliseconds. */
export type RecordingTimes = {
  /** From an instruction to the first picture: the person reads it and moves. */
  readonly moveMs: number
  /** For how long pictures are taken; the sharpest ones are kept. */
  readonly holdMs: number
}

/** Two seconds suffice for one head turn; then the sharpest pictures of one second are kept. */
export const defaultTimes: RecordingTimes = { moveMs: 1_800, holdMs: 1_000 }

const frameIntervalMs = 100
/** A second frame of each step, in case the head moves or the eyes close in the first. */
const framesPerStepMax = 2

export type RecordingOptions = {
  readonly camera: Camera
  readonly session: RequestedSession
  readonly times: RecordingTimes
  /** Shows the instruction of a step; undefined is the frontal picture before the first step. */
  readonly showStep: (step: LivenessStep | undefined, index: number) => void
  readonly signal: AbortSignal
}

/**
 * Records the frames of an attempt in the order of its steps: one frontal frame, then up to two per
 * step.
 *
 * @returns JPEG files, at most `framesMax`.
 * @throws LivenessError cameraStopped; the reason of the signal when it aborts.
 */
export async function recordFrames(options: RecordingOptions): Promise<Blob[]> {
  const { session, showStep } = options
  const { steps, framesMax } = session
  const perStep = Math.min(framesPerStepMax, Math.floor((framesMax - 1) / steps.length))
  showStep(undefined, 0)
  const frames = [...(await recordStep(options, 1))]
  for (const [index, step] of steps.entries()) {
    showStep(step, index)
    frames.push(...(await recordStep(options, perStep)))
  }
  return Promise.all(frames.map(encodeFrame))
}

/** Returns the sharpest pictures of one step, in the order in which they were taken. */
async function recordStep(
  { camera, times, signal }: RecordingOptions,
  count: number,
): Promise<readonly CameraFrame[]> {
  await waitMs(times.moveMs, signal)
  const parts: CameraFrame[] = []
  for (let part = 0; part < count; part++) {
    let best: CameraFrame | undefined
    const endMs = performance.now() + times.holdMs / count
    do {
      if (!camera.isRunning()) throw new LivenessError('cameraStopped')
      const frame = camera.takeFrame()
      if (!best || frame.sharpness > best.sharpness) best = frame
      await waitMs(frameIntervalMs, signal)
    } while (performance.now() < endMs)
    parts.push(best)
  }
  return parts
}
