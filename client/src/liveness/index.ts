/** The camera component for liveness sessions in browsers: `facegate-client/liveness`. */
export { FacegateLiveness } from './liveness-element.ts'
export { englishTexts, type LivenessTexts, type ReplacedTexts } from './texts.ts'
export { type LivenessEvents } from './run-session.ts'
export { type SessionWithToken } from './session-transport.ts'
export {
  LivenessError,
  type JudgedAttempt,
  type FrameCheck,
  type LivenessProblem,
  type LivenessTransport,
  type SessionProgress,
} from './liveness-check.ts'
