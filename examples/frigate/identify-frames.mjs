/**
 * Identifies the frames of an event as one person, and returns the value of svc.identify. Removes
 * frames that cannot be used; their calls cost nothing. Undefined if no frame is left.
 */
export async function identifyFrames(facegate, search, state) {
  while (state.frames.length > 0) {
    const { frames } = state
    const outcome =
      frames.length > 1
        ? await facegate.try.identify(frames, { ...search, sameSubject: true })
        : await facegate.try.identify(frames[0], search)
    if (outcome.ok) return outcome.value
    if (!isFrameProblem(outcome.error)) throw outcome.error
    state.frames = frames.toSpliced(outcome.error.problems[0]?.imageIndex ?? 0, 1)
  }
  return undefined
}

/** Whether a call failed because of one of its frames. */
function isFrameProblem({ code }) {
  return [
    'NO_FACE_FOUND',
    'FACE_TOO_SMALL',
    'LOW_QUALITY',
    'SUBJECT_FACE_MISMATCH',
    'IMAGE_DECODE_FAILED',
    'IMAGE_TOO_SMALL',
    'UNSUPPORTED_IMAGE_TYPE',
  ].includes(code)
}
