import { builtinPack } from '../../models/builtin/builtin-pack.ts'

/** The expressions that the networks distinguish. */
export const expressions = builtinPack.models.face_expression.constants.labels

export type Expression = (typeof expressions)[number]

/** An attribute that networks can predict. */
export type AttributeName = 'age' | 'gender' | 'expression'

/** Contains only the requested attributes. */
export type FaceAttributes = {
  /** Years. */
  readonly age?: number
  /** The probability that the face is male, 0..1. */
  readonly maleProbability?: number
  /** Probabilities, summing to 1. */
  readonly expression?: Readonly<Record<Expression, number>>
}
