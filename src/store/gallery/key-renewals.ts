import type { Selectable } from 'kysely'
import type { CropRow, SubjectRow, TemplateRow } from '../gallery-schema.ts'
import type { Schema } from '../schema.ts'
import type { ReadTx, Tx } from '../database.ts'

/**
 * Marks the subjects of faces from which a template or crop is deleted: the next key rotation encrypts
 * their other data with a new key. Must be called in each transaction that deletes a template or crop
 * and keeps its subject, before a face is deleted.
 */
export async function markForNewKey(tx: Tx, faceIds: readonly string[]): Promise<void> {
  if (faceIds.length === 0) return
  const subjectIds = tx.build.selectFrom('faces').select('subjectId').where('faceId', 'in', faceIds)
  await tx.run(
    tx.build
      .updateTable('subjects')
      .set({ needsNewKey: 1 })
      .where('subjectId', 'in', subjectIds)
      .where('needsNewKey', '=', 0),
  )
}

/** Lists the galleries with subjects that need a new key. */
export async function listGalleriesNeedingKeys(tx: ReadTx): Promise<readonly string[]> {
  const query = tx.build
    .selectFrom('subjects')
    .select('galleryId')
    .distinct()
    // A literal, so that both engines use the partial index.
    .where((row) => row('needsNewKey', '=', row.lit(1)))
    .orderBy('galleryId')
  return (await tx.run(query)).map(({ galleryId }) => galleryId)
}

/** Finds subjects of a gallery that need a new key. */
export function findSubjectsNeedingKey(
  tx: ReadTx,
  galleryId: string,
  limit: number,
): Promise<readonly Selectable<Schema['subjects']>[]> {
  const query = tx.build
    .selectFrom('subjects')
    .selectAll()
    .where('galleryId', '=', galleryId)
    .where((row) => row('needsNewKey', '=', row.lit(1)))
    .limit(limit)
  return tx.run(query)
}

/** Stores the new wrapped key of a subject and clears its flag. */
export async function replaceSubjectKey(
  tx: Tx,
  subjectId: string,
  key: Pick<SubjectRow, 'keyId' | 'wrappedKey'>,
): Promise<void> {
  const query = tx.build.updateTable('subjects').set({ ...key, needsNewKey: 0 })
  await tx.run(query.where('subjectId', '=', subjectId))
}

/** Replaces the ciphertext of a template. */
export async function replaceTemplateCiphertext(
  tx: Tx,
  { galleryId, faceId, modelId, ciphertext }: TemplateRow,
): Promise<void> {
  await tx.run(
    tx.build
      .updateTable('templates')
      .set({ ciphertext })
      .where('galleryId', '=', galleryId)
      .where('faceId', '=', faceId)
      .where('modelId', '=', modelId),
  )
}

/** Replaces the ciphertext of a crop. */
export async function replaceCropCiphertext(
  tx: Tx,
  { faceId, ciphertext }: Pick<CropRow, 'faceId' | 'ciphertext'>,
): Promise<void> {
  await tx.run(tx.build.updateTable('crops').set({ ciphertext }).where('faceId', '=', faceId))
}

/** Finds the stored crops of a subject. */
export function findSubjectCrops(
  tx: ReadTx,
  subjectId: string,
): Promise<readonly Pick<CropRow, 'faceId' | 'ciphertext'>[]> {
  const query = tx.build
    .selectFrom('crops')
    .innerJoin('faces', 'faces.faceId', 'crops.faceId')
    .select(['crops.faceId', 'crops.ciphertext'])
    .where('faces.subjectId', '=', subjectId)
  return tx.run(query)
}
