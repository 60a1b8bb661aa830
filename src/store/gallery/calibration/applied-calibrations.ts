import type { GalleryCalibrationRow } from '../../gallery-schema.ts'
import type { ReadTx, Tx } from '../../database.ts'

/** Lists the tables in use of all galleries, without their definitions. */
export function findCalibrationsInUse(tx: ReadTx) {
  const query = tx.build.selectFrom('galleryCalibrations').select(['calibrationId', 'galleryId'])
  return tx.run(query.where('endedAtUtc', 'is', null))
}

/** Rows per statement. */
const rowsPerQuery = 200

export async function findCalibrationsById(
  { build, run }: ReadTx,
  calibrationIds: readonly string[],
): Promise<readonly GalleryCalibrationRow[]> {
  const rows: GalleryCalibrationRow[] = []
  for (let from = 0; from < calibrationIds.length; from += rowsPerQuery) {
    const ids = calibrationIds.slice(from, from + rowsPerQuery)
    const query = build.selectFrom('galleryCalibrations').selectAll()
    rows.push(...(await run(query.where('calibrationId', 'in', ids))))
  }
  return rows
}

/** The most tables that a history shows. */
const historyMax = 100

/** Finds the newest tables of a gallery, in use or not, the newest first. */
export function findGalleryCalibrations({ build, run }: ReadTx, galleryId: string) {
  return run(
    build
      .selectFrom('galleryCalibrations')
      .selectAll()
      .where('galleryId', '=', galleryId)
      .orderBy('appliedAtUtc', 'desc')
      .orderBy('calibrationId')
      .limit(historyMax),
  )
}

/** Finds the tables that the galleries of an account use. */
export function findAccountCalibrations({ build, run }: ReadTx, accountId: string) {
  return run(
    build
      .selectFrom('galleryCalibrations')
      .innerJoin('galleries', 'galleries.galleryId', 'galleryCalibrations.galleryId')
      .selectAll('galleryCalibrations')
      .where('galleries.accountId', '=', accountId)
      .where('endedAtUtc', 'is', null)
      .orderBy('appliedAtUtc', 'desc')
      .orderBy('calibrationId')
      .limit(historyMax),
  )
}

/** The time and the author of a change. */
export type CalibrationChange = { readonly atUtc: string; readonly by: string }

/** Adds a table and ends the use of the gallery's former table for the same model. */
export async function addCalibration(
  tx: Tx,
  row: Omit<GalleryCalibrationRow, 'endedAtUtc' | 'endedBy'>,
): Promise<void> {
  const { galleryId, modelId, appliedAtUtc: atUtc, appliedBy: by } = row
  await tx.lock(`calibration:${galleryId}`, 'exclusive')
  await endUse(tx, { galleryId, modelId }, { atUtc, by })
  const added = { ...row, endedAtUtc: null, endedBy: null }
  await tx.run(tx.build.insertInto('galleryCalibrations').values(added))
}

/** Ends the use of all tables of a gallery. @returns their ids. */
export async function endCalibrations(tx: Tx, galleryId: string, change: CalibrationChange) {
  await tx.lock(`calibration:${galleryId}`, 'exclusive')
  return endUse(tx, { galleryId }, change)
}

async function endUse(
  { build, run }: Tx,
  { galleryId, modelId }: { readonly galleryId: string; readonly modelId?: string },
  { atUtc, by }: CalibrationChange,
): Promise<readonly string[]> {
  let query = build
    .updateTable('galleryCalibrations')
    .set({ endedAtUtc: atUtc, endedBy: by })
    .where('galleryId', '=', galleryId)
    .where('endedAtUtc', 'is', null)
  if (modelId !== undefined) query = query.where('modelId', '=', modelId)
  const ended = await run(query.returning('calibrationId'))
  return ended.map(({ calibrationId }) => calibrationId)
}
