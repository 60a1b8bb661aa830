/** The limits of the judgement of challenges. */
export const challengeLimits = {
  /** Calibrated similarity of each frame to the first. */
  similarityMin: 0.7,
  /** Degrees: change of the yaw against the first frame for a turn to a side. */
  yawChangeMin: 20,
  /** Degrees: change of the pitch against the first frame for a look up or down. */
  pitchChangeMin: 12,
} as const
