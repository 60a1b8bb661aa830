import type { GalleryKeyRow } from '../gallery-schema.ts'
import { type LockMode, type ReadTx, type Tx, sql } from '../database.ts'
import { anyDenials } from './feedback/match-verdicts.ts'
import { galleryIdOf } from '../tenancy/projects.ts'
import { visitorsGalleryId } from './visitors.ts'

/**
 * Locks a gallery until the transaction ends. A transaction that changes the gallery takes the lock
 * first, in exclusive mode. One that returns its subjects takes it in shared mode, so that no other
 * transaction changes the gallery meanwhile.
 */
export function lockGallery(tx: Tx, galleryId: string, mode: LockMode): Promise<void> {
  return tx.lock(`gallery:${galleryId}`, mode)
}

/** Locks the gallery of a project and that of its visitors in exclusive mode. */
export async function lockProjectGallery(tx: Tx, projectId: string): Promise<void> {
  const query = tx.build
    .selectFrom('projects')
    .select(['accountId', 'galleryMode'])
    .where('projectId', '=', projectId)
  const [project] = await tx.run(query)
  if (!project) return
  const galleryId = galleryIdOf({ ...project, projectId })
  await lockGallery(tx, galleryId, 'exclusive')
  await lockGallery(tx, visitorsGalleryId(galleryId), 'exclusive')
}

/** Finds the row of a gallery and whether it has denials; undefined before its first subject. */
export async function findGallery({ build, run }: ReadTx, galleryId: string) {
  const hasDenials = anyDenials(galleryId).as('hasDenials')
  const query = build.selectFrom('galleries').selectAll().select(hasDenials)
  return (await run(query.where('galleryId', '=', galleryId)))[0]
}

export async function listGalleryIds(tx: ReadTx): Promise<readonly string[]> {
  const rows = await tx.run(tx.build.selectFrom('galleries').select('galleryId'))
  return rows.map(({ galleryId }) => galleryId)
}

/** Lists the galleries that have at least this many templates. */
export function listLargeGalleries(tx: ReadTx, templateCountMin: number) {
  const query = tx.build.selectFrom('galleries').select(['galleryId', 'accountId', 'sequence'])
  return tx.run(query.where('templateCount', '>=', templateCountMin))
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

/** Increments the gallery's number of changes and updates its counts. @returns the new number. */
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

/** Finds the gallery's newest key, which encrypts the keys of new subjects. */
export async function findNewestGalleryKey(tx: ReadTx, galleryId: string) {
  const query = tx.build
    .selectFrom('galleryKeys')
    .selectAll()
    .where('galleryId', '=', galleryId)
    .orderBy('createdAtMs', 'desc')
    .orderBy('keyId')
    .limit(1)
  return (await tx.run(query))[0]
}

export async function findGalleryKey(tx: ReadTx, keyId: string) {
  const query = tx.build.selectFrom('galleryKeys').selectAll().where('keyId', '=', keyId)
  return (await tx.run(query))[0]
}

export function listGalleryKeys(tx: ReadTx): Promise<readonly GalleryKeyRow[]> {
  return tx.run(tx.build.selectFrom('galleryKeys').selectAll())
}

/** Finds the id of the master key of the latest rotation or the first start. */
export async function findCurrentMasterKeyId(tx: ReadTx): Promise<string | undefined> {
  const query = tx.build.selectFrom('masterKeys').select('masterKeyId')
  return (await tx.run(query))[0]?.masterKeyId
}

/** @param masterKeyId undefined: the next start stores the id of the newest key of its file. */
export async function storeCurrentMasterKeyId(tx: Tx, masterKeyId: string | undefined) {
  await tx.run(tx.build.deleteFrom('masterKeys'))
  if (masterKeyId !== undefined)
    await tx.run(tx.build.insertInto('masterKeys').values({ masterKeyId }))
}

export async function addGalleryKey(tx: Tx, key: GalleryKeyRow): Promise<void> {
  await tx.run(tx.build.insertInto('galleryKeys').values(key))
}

/** @throws Error (foreign key) while the key of a subject is encrypted under it. */
export async function removeGalleryKey(tx: Tx, keyId: string): Promise<void> {
  await tx.run(tx.build.deleteFrom('galleryKeys').where('keyId', '=', keyId))
}
