/**
 * The limits of the judgement of challenges. docs/liveness.md contains the measurements behind them:
 * "people" are pictures of one person in fold 1 of LFW, the first of them frontal; "drawn" are the
 * prints and screens of `eval/draw-challenge-attacks.ts`.
 */
export const challengeLimits = {
  /** Calibrated similarity of each frame to the first: at most one stranger in 1,000 reaches it. */
  similarityMin: 0.7,
  /**
   * Degrees: the first frame must be frontal. People who sit still stay within 12°. The pitch is less
   * certain: 5 % of press photographs are beyond 17°.
   */
  firstYawMax: 15,
  firstPitchMax: 20,
  turn: {
    /** Degrees: change of the yaw. Drawn flat prints reach 14°; a head turns 25° with ease. */
    changeMin: 20,
    /** Eye distances: 99 % of people have 0.11 or more from 20° on, flat prints at 30° up to 0.09. */
    residualMin: 0.1,
    /** 97 % of people have 0.30 or more; 79 % of drawn prints that show a turn have less. */
    depthMin: 0.3,
  },
  look: {
    /** Degrees: change of the pitch. Drawn flat prints that are tilted reach 14°. */
    changeMin: 15,
    /** Eye distances: 97 % of people have 0.07 or more from 15° on. */
    residualMin: 0.07,
    /** 97 % of people have 0.13 or more; 83 % of drawn prints that show a look have less. */
    depthMin: 0.13,
  },
  /**
   * The mean of depth − depthMin over two or more steps: 95 % of people have it, and no drawn print
   * has it in two steps.
   */
  depthMarginMin: 0.09,
  /** Pearson's correlation of the fingerprints of two frames between which the head has moved. */
  pictureCorrelationMax: 0.99,
} as const
