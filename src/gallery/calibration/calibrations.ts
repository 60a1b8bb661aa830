import { runAsAllAccounts } from '../../lib/account-context.ts'
import { formatUtc } from '../../lib/clock.ts'
import { newId } from '../../lib/ids.ts'
import type { Log } from '../../lib/log.ts'
import type { Store, Tx } from '../../store/database.ts'
import type { GalleryCalibrationRow } from '../../store/gallery-schema.ts'
import {
  addCalibration,
  findCalibrationsById,
  findCalibrationsInUse,
} from '../../store/gallery/calibration/applied-calibrations.ts'
import builtinTable from './dlib-faceres-256@1.json' with { type: 'json' }
import type { GalleryCalibrationReport } from './measure/calibrate-gallery.ts'
import { parseCalibration } from './read-calibration.ts'
import type { Calibration } from './similarity.ts'

/**
 * The table of a similarity: measured on the gallery, or that of the model. The table of a model without
 * rows of other populations in its cohort holds only for pictures like those it was measured on.
 */
export type CalibrationSource = 'gallery' | 'model' | 'pictures'

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
    sourceOf: (modelId) =>
      byModelId.get(modelId)?.populations === undefined ? 'pictures' : 'model',
  }
}

/**
 * Replaces the table of the active model with that of a gallery. After a change of the model, the
 * tables of other models have no effect.
 */
function withGalleryTables(shipped: Calibrations, tables: readonly Calibration[]): Calibrations {
  const own = tables.find(({ modelId }) => modelId === shipped.activeModelId)
  if (!own) return shipped
  return {
    ...shipped,
    of: (modelId) => (modelId === own.modelId ? own : shipped.of(modelId)),
    sourceOf: (modelId) => (modelId === own.modelId ? 'gallery' : shipped.sourceOf(modelId)),
  }
}

/** Returns the calibration of the built-in template model if `modelId` is its id. */
export function calibrationOf(modelId: string): Calibration | undefined {
  return modelId === builtinTable.modelId ? (builtinTable as Calibration) : undefined
}

type GalleryCalibrationsOptions = {
  readonly store: Pick<Store, 'read'>
  /** The tables of the models. */
  readonly calibrations: Calibrations
  readonly log: Pick<Log, 'error'>
}

/**
 * Opens the calibration tables that galleries use instead of those of the models. Resolves when the
 * tables of all galleries are loaded.
 */
export async function openGalleryCalibrations(options: GalleryCalibrationsOptions) {
  const shipped = options.calibrations
  let tables: Tables = new Map()
  let byGallery: ReadonlyMap<string, Calibrations> = new Map()
  const load = async (): Promise<void> => {
    const found = await runAsAllAccounts(() => loadTables(tables, options))
    if (new Set(found.keys()).symmetricDifference(tables).size === 0) return
    tables = found
    byGallery = toCalibrations(shipped, found)
  }
  // In turn: an older result must not replace a newer one.
  let last: Promise<void> = Promise.resolve()
  /**
   * Reads which tables galleries use now. The server does it every second, so that a table that
   * another process applied or reverted is in use within two seconds.
   */
  const refresh = (): Promise<void> => {
    last = last.catch(() => undefined).then(load)
    return last
  }
  await refresh()
  /**
   * Returns the calibrations for a gallery, as of the last refresh. The returned value does not
   * change, so a call that uses one value has the same similarities throughout.
   */
  const of = (galleryId: string): Calibrations => byGallery.get(galleryId) ?? shipped
  return { of, refresh }
}

/** By the id of the calibration. A stored table never changes. */
type Tables = ReadonlyMap<string, ReturnType<typeof toTable>>

async function loadTables(loaded: Tables, { store, log }: GalleryCalibrationsOptions) {
  return store.read(async (reading) => {
    const inUse = await findCalibrationsInUse(reading)
    const ids = inUse.map(({ calibrationId }) => calibrationId)
    const missing = ids.filter((calibrationId) => !loaded.has(calibrationId))
    const added = await findCalibrationsById(reading, missing)
    const all = new Map([
      ...loaded,
      ...added.map((row) => [row.calibrationId, toTable(row, log)] as const),
    ])
    const inUseIds = new Set(ids)
    return new Map([...all].filter(([id]) => inUseIds.has(id)))
  })
}

/** Without a calibration, the stored table is invalid and is not used. */
function toTable(row: GalleryCalibrationRow, log: Pick<Log, 'error'>) {
  const { galleryId, calibrationId, modelId, definition } = row
  try {
    const calibration = parseCalibration(definition, `calibration ${calibrationId}`)
    if (calibration.modelId !== modelId) throw new Error('the table is of another model')
    return { galleryId, calibration }
  } catch (error) {
    const alert = { alert: 'calibration-invalid', galleryId, calibrationId }
    log.error({ ...alert, err: error }, 'a stored calibration is invalid; it is not used')
    return { galleryId, calibration: undefined }
  }
}

function toCalibrations(shipped: Calibrations, tables: Tables): ReadonlyMap<string, Calibrations> {
  const byGallery = Map.groupBy(tables.values(), ({ galleryId }) => galleryId)
  return new Map(
    [...byGallery].map(([galleryId, ofGallery]) => {
      const own = ofGallery.flatMap(({ calibration }) => calibration ?? [])
      return [galleryId, withGalleryTables(shipped, own)]
    }),
  )
}

/** A measured table and the report of its measurement. */
export type MeasuredTable = {
  readonly calibration: Calibration
  readonly report: GalleryCalibrationReport
}

/** The row of an applied table. */
export type AppliedTable = Pick<
  GalleryCalibrationRow,
  'calibrationId' | 'galleryId' | 'modelId' | 'appliedAtUtc' | 'appliedBy'
>

/** Pairs that an audit entry lists; it always has their number. */
const auditedPairsMax = 20

/** Makes a measured table the one that its gallery uses for its model. The caller adds the audit entry. */
export async function applyMeasuredTable(
  tx: Tx,
  { calibration, report }: MeasuredTable,
  { atMs, by }: { readonly atMs: number; readonly by: string },
) {
  const { galleryId, modelId, subjects, pairs, lowestFmr, excluded } = report
  const calibrationId = newId()
  const applied = {
    calibrationId,
    galleryId,
    modelId,
    appliedAtUtc: formatUtc(atMs),
    appliedBy: by,
  }
  const definition = JSON.stringify(calibration)
  await addCalibration(tx, { ...applied, subjects, pairs, definition })
  const excludedIds = excluded
    .slice(0, auditedPairsMax)
    .map(({ subjectA, subjectB }) => [subjectA.subjectId, subjectB.subjectId])
  const change = { galleryId, calibrationId, modelId, subjects, pairs, lowestFmr }
  const detail = { ...change, excludedPairs: excluded.length, excluded: excludedIds }
  return {
    applied,
    /** Without scores and external ids. */
    detail,
  }
}
