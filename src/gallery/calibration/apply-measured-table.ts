import { newId } from '../../lib/ids.ts'
import { formatUtc } from '../../lib/clock.ts'
import type { GalleryCalibrationRow } from '../../store/gallery-schema.ts'
import { addCalibration } from '../../store/gallery/calibration/applied-calibrations.ts'
import type { Tx } from '../../store/database.ts'
import type { GalleryCalibrationReport } from './measure/calibrate-gallery.ts'
import type { Calibration } from './similarity.ts'

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

/** The table in use and the content of its audit entry. */
export type TableApplication = {
  readonly applied: AppliedTable
  /** Without scores and external ids. */
  readonly detail: Readonly<Record<string, unknown>>
}

/** Pairs that an audit entry lists; it always has their number. */
const auditedPairsMax = 20

/** Makes a measured table the one that its gallery uses for its model. The caller adds the audit entry. */
export async function applyMeasuredTable(
  tx: Tx,
  { calibration, report }: MeasuredTable,
  { atMs, by }: { readonly atMs: number; readonly by: string },
): Promise<TableApplication> {
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
  return { applied, detail }
}
