import { sql } from 'kysely'
import type { GalleryKeyRow } from '../schema.ts'
import type { ReadTx, Tx } from '../tx.ts'

/**
 * To be asked first by whatever changes a gallery, alone, and by whatever names its subjects,
 * together with others who do: until the end of the transaction nothing is changed beside it.
 */
export function lockGallery(tx: Tx, galleryId: string, mode: 'alone' | 'together'): Promise<void> {
  return tx.lock(`gallery:${galleryId}`, mode)
}

/** The same for the gallery that a project sees. */
export async function lockProjectGallery(tx: Tx, projectId: string): Promise<void> {
  const query = tx.build
    .selectFrom('projects')
    .select(['accountId', 'galleryMode'])
    .where('projectId', '=', projectId)
  const [project] = await tx.run(query)
  if (!project) return
  const { accountId, galleryMode } = project
  await lockGallery(tx, galleryMode === 'shared' ? accountId : projectId, 'alone')
}

export type GallerySize = { readonly subjectCount: number; readonly templateCount: number }

/** Whose gallery it is, and its number of changes so far; undefined before its first subject. */
export async function findGallery(reading: ReadTx, galleryId: string) {
  const query = reading.build.selectFrom('galleries').selectAll().where('galleryId', '=', galleryId)
  return (await reading.run(query))[0]
}

export async function findGallerySize(reading: ReadTx, galleryId: string): Promise<GallerySize> {
  return (await findGallery(reading, galleryId)) ?? { subjectCount: 0, templateCount: 0 }
}

export async function listGalleryIds(reading: ReadTx): Promise<readonly string[]> {
  const rows = await reading.run(reading.build.selectFrom('galleries').select('galleryId'))
  return rows.map(({ galleryId }) => galleryId)
}

export async function createGallery(
  tx: Tx,
  gallery: { readonly galleryId: string; readonly accountId: string },
): Promise<void> {
  await tx.run(
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
export async function recordGalleryChange(tx: Tx, change: GalleryChange): Promise<number> {
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
  const [row] = await tx.run(query)
  if (!row) throw new Error(`there is no gallery ${galleryId}`)
  return row.sequence
}

/** The key that new subjects are wrapped under: the gallery's newest. */
export async function findNewestGalleryKey(
  reading: ReadTx,
  galleryId: string,
): Promise<GalleryKeyRow | undefined> {
  const query = reading.build
    .selectFrom('galleryKeys')
    .selectAll()
    .where('galleryId', '=', galleryId)
    .orderBy('createdAtMs', 'desc')
    .orderBy('keyId')
    .limit(1)
  return (await reading.run(query))[0]
}

export async function findGalleryKey(
  reading: ReadTx,
  keyId: string,
): Promise<GalleryKeyRow | undefined> {
  const query = reading.build.selectFrom('galleryKeys').selectAll().where('keyId', '=', keyId)
  return (await reading.run(query))[0]
}

export function listGalleryKeys(reading: ReadTx): Promise<readonly GalleryKeyRow[]> {
  return reading.run(reading.build.selectFrom('galleryKeys').selectAll())
}

export async function addGalleryKey(tx: Tx, key: GalleryKeyRow): Promise<void> {
  await tx.run(tx.build.insertInto('galleryKeys').values(key))
}

/** @throws Error (foreign key) while a subject is wrapped under it. */
export async function removeGalleryKey(tx: Tx, keyId: string): Promise<void> {
  await tx.run(tx.build.deleteFrom('galleryKeys').where('keyId', '=', keyId))
}
