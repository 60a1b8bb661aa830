import type { Calibration } from './similarity.ts'
import builtin from './dlib-faceres-256.json' with { type: 'json' }

/** What the scores of each loaded model mean. Templates of other models compare with nothing. */
export type Calibrations = {
  /** The model that new templates are made by. */
  readonly activeModelId: string
  /** Models of older templates that are still loaded. */
  readonly formerModelIds: readonly string[]
  /** The table for templates of a model; undefined when the model is not loaded. */
  readonly of: (modelId: string) => Calibration | undefined
}

/** The tables of the models that are loaded, each one's own; of two for one model the first. */
export function createCalibrations(
  active: Calibration,
  former: readonly Calibration[] = [],
): Calibrations {
  const byModel = new Map([...former.toReversed(), active].map((one) => [one.modelId, one]))
  const formerModelIds = new Set(former.map(({ modelId }) => modelId))
  formerModelIds.delete(active.modelId)
  return {
    activeModelId: active.modelId,
    formerModelIds: [...formerModelIds],
    of: (modelId) => byModel.get(modelId),
  }
}

/** The tables that ship, by the model of the templates. */
const builtinCalibrations: readonly Calibration[] = [builtin as Calibration]

/** The table for templates of `modelId`, if one ships. */
export function calibrationOf(modelId: string): Calibration | undefined {
  return builtinCalibrations.find((calibration) => calibration.modelId === modelId)
}
