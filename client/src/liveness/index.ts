/** The camera component for challenge liveness in browsers: `facegate-client/liveness`. */
export { runLivenessCheck, type LivenessCheckOptions } from './run-liveness-check.ts'
export { englishTexts, type LivenessTexts } from './texts.ts'
export {
  LivenessError,
  type RequestedChallenge,
  type LivenessOutcome,
  type LivenessProblem,
  type LivenessVerdict,
} from './liveness-check.ts'
