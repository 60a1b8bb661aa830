/**
 * The limits of the judgement of challenges. docs/liveness.md contains the measurements behind them:
 * "people" are pictures of one person in fold 1 of LFW, the first of them frontal; "drawn" are the
 * prints and screens of `eval/draw-challenge-attacks.ts`.
 */
export const challengeLimits = {
  /** Calibrated similarity of each frame to the first: at most 1 in 1,000 other people reaches it. */
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
    /** 97 % of people have more; of drawn prints that seem to turn this far, three of four less. */
    depthMin: 0.3,
  },
  look: {
    /** Degrees: change of the pitch. Drawn flat prints that are tilted reach 14°. */
    changeMin: 15,
    /** Eye distances: 97 % of people have 0.07 or more from 15° on. */
    residualMin: 0.07,
    /** 97 % of people have more; of drawn prints that seem to look this far, five of six less. */
    depthMin: 0.13,
  },
  /**
   * The mean of depth − depthMin over two or more steps. The best drawn attack in two steps, a bent
   * paper mask with holes, has 0.118. Of pairs of turned pictures of people, taken on different days,
   * 13 % have less than this limit.
   */
  depthMarginMin: 0.125,
  /**
   * Two frames between which the head has moved are one picture if their poses differ by less than
   * this (degrees; copies differ by up to 2.0) and their fingerprints correlate more than this (51 of
   * 52 changed copies have more than 0.97, all more than 0.955; other pictures of a person up to 0.97).
   */
  poseDifferenceMin: 2.5,
  pictureCorrelationMax: 0.955,
} as const
