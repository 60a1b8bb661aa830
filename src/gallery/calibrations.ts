import type { Calibration } from './similarity.ts'
import builtin from './calibration/dlib-faceres-256.json' with { type: 'json' }

/** The tables that ship, by the model of the templates. */
const shipped: readonly Calibration[] = [builtin as Calibration]

/** The table for templates of `modelId`, if one ships. */
export function calibrationOf(modelId: string): Calibration | undefined {
  return shipped.find((calibration) => calibration.modelId === modelId)
}
