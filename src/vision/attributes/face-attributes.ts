export type Expression =
  | 'neutral'
  | 'happy'
  | 'sad'
  | 'angry'
  | 'fearful'
  | 'disgusted'
  | 'surprised'

/** What networks read off a face. */
export type AttributeName = 'age' | 'gender' | 'expression'

/** Only what was asked for. */
export type FaceAttributes = {
  /** Years. */
  readonly age?: number
  /** How probably the face is a man's, 0..1. */
  readonly maleProbability?: number
  /** Probabilities, summing to 1. */
  readonly expression?: Readonly<Record<Expression, number>>
}
