/**
 * The limits of the judgement of challenges. docs/liveness.md contains the measurements behind them:
 * "people" are pictures of one person in fold 1 of LFW, the first of them frontal; "drawn" are the
 * prints and screens of `eval/draw-challenge-attacks.ts`.
 */
export const challengeLimits = {
  /** Calibrated similarity of each frame to the first: at most 1 in 1,000 other people reaches it. */
  similarityMin: 0.7,
  /**
   * Calibrated similarity to the first frame of a frame whose neighbour is similar to both: about 1 in
   * 350 other people reaches it.
   */
  linkedSimilarityMin: 0.6,
  /**
   * Degrees: the first frame must be frontal. People who sit still stay within 12°. The pitch is less
   * certain: 5 % of press photographs are beyond 17°.
   */
  firstYawMax: 15,
  firstPitchMax: 20,
  turn: {
    /** Degrees: change of the yaw. Drawn flat prints reach 14°; a head turns 25° with ease. */
    changeMin: 20,
    /** A picture has neither. All pictures of people and drawn heads that show a step have more. */
    residualMin: 0.09,
    noseDepthMin: 0.25,
    weights: { bias: -1.858, residual: 14.096, noseDepth: 0.235, keptWidth: 12.91 },
  },
  look: {
    /** Degrees: change of the pitch. Drawn flat prints that are tilted reach 14°. */
    changeMin: 15,
    residualMin: 0.045,
    noseDepthMin: 0.08,
    weights: { bias: -0.272, residual: 12.917, noseDepth: 0.365, keptWidth: 15.144 },
  },
  /**
   * Log-odds of a head. Each movement must reach the first limit, and the mean of two or more the
   * second one. `weights` above are their fit by `eval/challenge/fit-challenge.ts`, on one half of the people and
   * of the drawn attacks; the limits were chosen on both halves.
   */
  solid: { movementMin: -1, meanMin: -0.4 },
  /**
   * Two frames between which the head has moved are one picture if, for one of these pairs, their poses
   * differ by less (degrees) and their fingerprints correlate more. Of 52 drawn copies that were changed
   * and that the mesh reads in nearly the same pose, these limits find all.
   */
  copies: [
    { poseDifferenceMin: 1, correlationMax: 0.93 },
    { poseDifferenceMin: 2.5, correlationMax: 0.955 },
    { poseDifferenceMin: 3.5, correlationMax: 0.99 },
  ],
  /**
   * Two frames that show turns to opposite sides are a picture and its mirror image if they correlate
   * more than this. Drawn heads, which are too symmetric, reach 0.94, and pictures of people 0.76.
   */
  mirroredCorrelationMax: 0.945,
} as const
