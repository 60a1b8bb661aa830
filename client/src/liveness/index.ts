/** The camera component for liveness sessions in browsers: `facegate-client/liveness`. */
export { runLivenessCheck, type LivenessCheckOptions } from './run-liveness-check.ts'
export { englishTexts, type LivenessTexts } from './texts.ts'
export {
  LivenessError,
  type RequestedSession,
  type LivenessOutcome,
  type LivenessProblem,
  type LivenessVerdict,
} from './liveness-check.ts'
