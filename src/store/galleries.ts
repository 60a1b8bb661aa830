import { sql } from 'kysely'
import type { GalleryKeyRow } from './schema.ts'
import type { Reading, Tx } from './tx.ts'

export type GallerySize = { readonly subjectCount: number; readonly templateCount: number }

/** Whose gallery it is, and its number of changes so far; undefined before its first subject. */
export function findGallery(reading: Reading, galleryId: string) {
  const query = reading.build.selectFrom('galleries').selectAll().where('galleryId', '=', galleryId)
  return reading.run(query)[0]
}

export function gallerySize(reading: Reading, galleryId: string): GallerySize {
  return findGallery(reading, galleryId) ?? { subjectCount: 0, templateCount: 0 }
}

export function listGalleryIds(reading: Reading): readonly string[] {
  const rows = reading.run(reading.build.selectFrom('galleries').select('galleryId'))
  return rows.map(({ galleryId }) => galleryId)
}

export function createGallery(
  tx: Tx,
  gallery: { readonly galleryId: string; readonly accountId: string },
): void {
  tx.run(
    tx.build
      .insertInto('galleries')
      .values(gallery)
      .onConflict((row) => row.doNothing()),
  )
}

export type GalleryChange = {
  readonly galleryId: string
  readonly subjects?: number
  readonly faces?: number
}

/** Counts a change of the gallery. @returns its number. */
export function countChange(tx: Tx, change: GalleryChange): number {
  const { galleryId, subjects = 0, faces = 0 } = change
  const query = tx.build
    .updateTable('galleries')
    .set({
      sequence: sql`sequence + 1`,
      subjectCount: sql`"subjectCount" + ${subjects}`,
      templateCount: sql`"templateCount" + ${faces}`,
    })
    .where('galleryId', '=', galleryId)
    .returning('sequence')
  const [row] = tx.run(query)
  if (!row) throw new Error(`there is no gallery ${galleryId}`)
  return row.sequence
}

/** The key that new subjects are wrapped under: the gallery's newest. */
export function newestGalleryKey(reading: Reading, galleryId: string): GalleryKeyRow | undefined {
  const query = reading.build
    .selectFrom('galleryKeys')
    .selectAll()
    .where('galleryId', '=', galleryId)
    .orderBy('createdAtMs', 'desc')
    .orderBy('keyId')
    .limit(1)
  return reading.run(query)[0]
}

export function findGalleryKey(reading: Reading, keyId: string): GalleryKeyRow | undefined {
  const query = reading.build.selectFrom('galleryKeys').selectAll().where('keyId', '=', keyId)
  return reading.run(query)[0]
}

export function listGalleryKeys(reading: Reading): readonly GalleryKeyRow[] {
  return reading.run(reading.build.selectFrom('galleryKeys').selectAll())
}

export function addGalleryKey(tx: Tx, key: GalleryKeyRow): void {
  tx.run(tx.build.insertInto('galleryKeys').values(key))
}

/** @throws Error (foreign key) while a subject is wrapped under it. */
export function removeGalleryKey(tx: Tx, keyId: string): void {
  tx.run(tx.build.deleteFrom('galleryKeys').where('keyId', '=', keyId))
}
