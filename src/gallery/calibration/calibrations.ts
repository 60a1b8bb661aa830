import type { Calibration } from './similarity.ts'
import builtinTable from './dlib-faceres-256@1.json' with { type: 'json' }

/** Where a similarity comes from: a table measured on the gallery, or the table of the model. */
export type CalibrationSource = 'gallery' | 'model'

/** The calibrations of the loaded models. Templates of other models cannot be compared. */
export type Calibrations = {
  /** The model that new templates are created with. */
  readonly activeModelId: string
  /** Models of older templates that are still loaded. */
  readonly formerModelIds: readonly string[]
  /** Returns the calibration of a model, or undefined if the model is not loaded. */
  readonly of: (modelId: string) => Calibration | undefined
  readonly sourceOf: (modelId: string) => CalibrationSource
}

/** If a model occurs more than once, its first calibration is used. */
export function createCalibrations(
  active: Calibration,
  former: readonly Calibration[] = [],
): Calibrations {
  const byModelId = new Map(
    [...former.toReversed(), active].map((calibration) => [calibration.modelId, calibration]),
  )
  const formerModelIds = new Set(former.map(({ modelId }) => modelId))
  formerModelIds.delete(active.modelId)
  return {
    activeModelId: active.modelId,
    formerModelIds: [...formerModelIds],
    of: (modelId) => byModelId.get(modelId),
    sourceOf: () => 'model',
  }
}

/**
 * Replaces the table of the active model with that of a gallery. After a change of the model, the
 * tables of other models have no effect.
 */
export function withGalleryTables(
  shipped: Calibrations,
  tables: readonly Calibration[],
): Calibrations {
  const own = tables.find(({ modelId }) => modelId === shipped.activeModelId)
  if (!own) return shipped
  return {
    ...shipped,
    of: (modelId) => (modelId === own.modelId ? own : shipped.of(modelId)),
    sourceOf: (modelId) => (modelId === own.modelId ? 'gallery' : 'model'),
  }
}

/** Returns the calibration of the built-in template model if `modelId` is its id. */
export function calibrationOf(modelId: string): Calibration | undefined {
  return modelId === builtinTable.modelId ? (builtinTable as Calibration) : undefined
}
