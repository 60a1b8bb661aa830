import { type ReadTx, type Store, type Tx, dialectOf } from '../../database.ts'
import type { GalleryPageRow } from '../../gallery-schema.ts'
import { countRows } from '../../lists.ts'
import { findNewestGalleryKey, lockGallery } from '../galleries.ts'
import type { FaceRange } from './face-ranges.ts'

/** The range of a page. */
export type PageRange = Pick<GalleryPageRow, 'afterSequence' | 'toSequence'>

export type PageFilter = Pick<GalleryPageRow, 'galleryId' | 'modelIds'> & {
  /** Pages that begin before this change are skipped. */
  readonly after: number
  readonly limit: number
}

/** Lists the ranges of the next pages of a gallery in their order, without their content. */
export function listPageRanges(tx: ReadTx, { galleryId, modelIds, after, limit }: PageFilter) {
  const query = tx.build
    .selectFrom('galleryPages')
    .select(['afterSequence', 'toSequence'])
    .where('galleryId', '=', galleryId)
    .where('toSequence', '>', after)
    .where('afterSequence', '>=', after)
    .where('modelIds', '=', modelIds)
  return tx.run(query.orderBy('toSequence').limit(limit))
}

/** A page, and the number of faces that its range contains now. */
export type StoredPage = GalleryPageRow & { readonly facesNow: number }

/** Finds the pages that begin and end within a range, in their order. */
export function findPages(tx: ReadTx, { galleryId, after, to }: FaceRange, modelIds: string) {
  const query = tx.build
    .selectFrom('galleryPages')
    .selectAll()
    .select((page) =>
      page
        .selectFrom('faces')
        .select((row) => row.fn.countAll<number>().as('count'))
        .whereRef('faces.galleryId', '=', 'galleryPages.galleryId')
        .whereRef('faces.sequence', '>', 'galleryPages.afterSequence')
        .whereRef('faces.sequence', '<=', 'galleryPages.toSequence')
        .$asScalar()
        .$notNull()
        .as('facesNow'),
    )
    .where('galleryId', '=', galleryId)
    .where('toSequence', '>', after)
    .where('toSequence', '<=', to)
    .where('afterSequence', '>=', after)
    .where('modelIds', '=', modelIds)
  return tx.run(query.orderBy('toSequence'))
}

/**
 * Stores a page if all its faces are unchanged, no other page contains them, and its key is
 * encrypted with the newest key of the gallery. Pages for other models are replaced.
 *
 * A face that changes gets a later number, so a range whose number of faces is the same contains the
 * same faces. The locks exclude changes until the transaction ends, and also changes by transactions
 * that do not lock the gallery: triggers lock its row before they delete a page.
 */
export async function storePage(tx: Tx, page: GalleryPageRow): Promise<boolean> {
  const { galleryId, afterSequence, toSequence, modelIds } = page
  await lockGallery(tx, galleryId, 'exclusive')
  const gallery = tx.build.selectFrom('galleries').select('galleryId')
  const row = gallery.where('galleryId', '=', galleryId)
  await tx.run(dialectOf(tx.build).hasRowLocks ? row.forUpdate() : row)
  if ((await findNewestGalleryKey(tx, galleryId))?.keyId !== page.keyId) return false
  const range = { galleryId, after: afterSequence, to: toSequence }
  if ((await countFacesInRange(tx, range)) !== page.faces) return false
  for (;;) {
    const next = await findNextPage(tx, galleryId, afterSequence)
    if (!next || next.afterSequence >= toSequence) break
    if (next.modelIds === modelIds) return false
    await deletePage(tx, { galleryId, toSequence: next.toSequence })
  }
  await tx.run(tx.build.insertInto('galleryPages').values(page))
  return true
}

function countFacesInRange(tx: ReadTx, { galleryId, after, to }: FaceRange): Promise<number> {
  const faces = tx.build
    .selectFrom('faces')
    .select('faceId')
    .where('galleryId', '=', galleryId)
    .where('sequence', '>', after)
    .where('sequence', '<=', to)
  return countRows(tx, faces)
}

/** Finds the first page that ends after a change. */
async function findNextPage(tx: ReadTx, galleryId: string, after: number) {
  const query = tx.build
    .selectFrom('galleryPages')
    .select(['afterSequence', 'toSequence', 'modelIds'])
    .where('galleryId', '=', galleryId)
    .where('toSequence', '>', after)
  return (await tx.run(query.orderBy('toSequence').limit(1)))[0]
}

export async function deletePage(
  tx: Tx,
  { galleryId, toSequence }: Pick<GalleryPageRow, 'galleryId' | 'toSequence'>,
): Promise<void> {
  const query = tx.build.deleteFrom('galleryPages').where('galleryId', '=', galleryId)
  await tx.run(query.where('toSequence', '=', toSequence))
}

/** Pages deleted per transaction. SQLite overwrites their bytes, about 300 kB each. */
const pageBatchSize = 4

/**
 * Deletes all pages in small transactions, or those whose keys are encrypted with one gallery key. It
 * must precede a change of many faces, which would delete them all in one transaction. The next loads
 * of the galleries write them again.
 */
export async function deletePages(
  store: Pick<Store, 'write'>,
  filter: { readonly keyId?: string } = {},
): Promise<void> {
  const deleteBatch = (tx: Tx) => deleteSomePages(tx, filter)
  while ((await store.write(deleteBatch)) === pageBatchSize);
}

async function deleteSomePages(tx: Tx, { keyId }: { readonly keyId?: string }): Promise<number> {
  const columns = ['galleryId', 'toSequence'] as const
  const all = tx.build.selectFrom('galleryPages').select(columns).limit(pageBatchSize)
  const some = keyId === undefined ? all : all.where('keyId', '=', keyId)
  const query = tx.build
    .deleteFrom('galleryPages')
    .where((row) => row(row.refTuple(...columns), 'in', some.$asTuple(...columns)))
    .returning('toSequence')
  return (await tx.run(query)).length
}
