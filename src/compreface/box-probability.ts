/** The scale of the box probability in the routes of CompreFace; see `boxProbabilityOf`. */
export type BoxProbability = ReturnType<typeof boxProbabilityOf>

/** The built-in detector, or the kind of an installed one. */
export type DetectorKind = keyof typeof acceptedConfidences

/** The threshold in the configuration of most clients. */
const usualThreshold = 0.8

/**
 * The confidence of each detector that becomes the usual threshold. The built-in detector gives many
 * plain faces a confidence between 0.6, its limit for a face, and 0.8; the installed ones do not.
 *
 * Measured with `eval/detection/measure-confidence.ts` on 807 press photographs (LFW, fold 1). False
 * faces: on the same photographs (built-in: on 404 of them) and on 18 group pictures, with all faces
 * covered, and on 158 files for tests of image decoders.
 *
 * | detector | confidence ≥ 0.8 | accepted at the threshold 0.8 | false faces accepted |
 * |---|---|---|---|
 * | built-in | 87.5 % | 100 % | 0 |
 * | yunet (pack recommended) | 99.9 % | 99.9 % | 1 |
 * | scrfd (pack scrfd-2.5g) | 99.5 % | 99.5 % | 0 |
 *
 * No network of the kind retinaface was measured: its confidence is not changed.
 */
const acceptedConfidences = {
  builtin: 0.6,
  yunet: usualThreshold,
  scrfd: usualThreshold,
  retinaface: usualThreshold,
} as const

/**
 * Returns the scale of the box probability for a detector: the piecewise-linear map of its confidence
 * through (0, 0), the confidence that becomes 0.8, and (1, 1). Clients of CompreFace compare the
 * probability with a fixed threshold, mostly 0.8. The routes of Facegate return the confidence.
 */
export function boxProbabilityOf(kind: DetectorKind) {
  const accepted = acceptedConfidences[kind]
  return {
    /** Converts the confidence of a detection, 0..1, and rounds it down to three decimals. */
    ofConfidence: (confidence: number): number =>
      Math.floor(1000 * (interpolate(confidence, accepted, usualThreshold) + roundingError)) / 1000,
    /** Converts a threshold of a client, `det_prob_threshold`, to the least confidence. */
    toConfidence: (probability: number) => interpolate(probability, usualThreshold, accepted),
  }
}

/** Keeps a value such as 0.8 from being rounded down to 0.799. */
const roundingError = 1e-9

/** The piecewise-linear map through (0, 0), (from, to) and (1, 1). */
function interpolate(value: number, from: number, to: number): number {
  return value < from ? (value * to) / from : to + ((value - from) * (1 - to)) / (1 - from)
}
