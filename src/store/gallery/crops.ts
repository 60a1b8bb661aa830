import type { ListCount } from '../../lib/limits/list-limits.ts'
import { type ReadTx, type Store, type Tx, sql } from '../database.ts'
import type { CropRow, FaceRow, SubjectRow, TemplateRow } from '../gallery-schema.ts'
import { deleteInBatches, isInBatch } from '../delete-in-batches.ts'
import { countListed } from '../lists.ts'
import { unfrozenProjects } from '../tenancy/projects.ts'
import { lockProjectGallery } from './galleries.ts'
import { findFaceTemplates } from './templates.ts'

export async function addCrop(tx: Tx, crop: CropRow): Promise<void> {
  await tx.run(tx.build.insertInto('crops').values(crop))
}

/** Finds the stored crop of a face. */
export async function findCrop(tx: ReadTx, faceId: string): Promise<CropRow | undefined> {
  const query = tx.build.selectFrom('crops').selectAll().where('faceId', '=', faceId)
  return (await tx.run(query))[0]
}

/** A face with a stored crop. */
export type CroppedFace = Pick<FaceRow, 'subjectId' | 'faceId'>

/** Finds the faces of subjects that have a stored crop, the best picture of each subject first. */
export async function findCroppedFaces(tx: ReadTx, subjectIds: readonly string[]) {
  if (subjectIds.length === 0) return []
  const query = tx.build
    .selectFrom('faces')
    .innerJoin('crops', 'crops.faceId', 'faces.faceId')
    .select(['faces.subjectId', 'faces.faceId'])
    .where('faces.subjectId', 'in', subjectIds)
  const bestFirst = query.orderBy('faces.qualityScore', 'desc').orderBy('faces.createdAtUtc')
  return tx.run(bestFirst.orderBy('faces.faceId'))
}

/** Finds the stored crop of a face of this subject; undefined for a face of another subject. */
export async function findSubjectCrop(tx: ReadTx, { subjectId, faceId }: CroppedFace) {
  const query = tx.build
    .selectFrom('crops')
    .innerJoin('faces', 'faces.faceId', 'crops.faceId')
    .selectAll('crops')
    .where('faces.subjectId', '=', subjectId)
    .where('crops.faceId', '=', faceId)
  return (await tx.run(query))[0]
}

export type MissingTemplateFilter = {
  readonly modelId: string
  /** The last face of the previous page; '' for the first page. */
  readonly afterFaceId: string
  readonly limit: number
}

/** Finds faces with a stored crop and without a template of the model, ordered by id. */
export async function findFacesToReEmbed(
  tx: ReadTx,
  { modelId, afterFaceId, limit }: MissingTemplateFilter,
): Promise<readonly string[]> {
  const query = tx.build
    .selectFrom('crops')
    .select('faceId')
    .where('faceId', '>', afterFaceId)
    .where((row) =>
      row.not(
        row.exists(
          row
            .selectFrom('templates')
            .select('templates.faceId')
            .whereRef('templates.faceId', '=', 'crops.faceId')
            .where('modelId', '=', modelId),
        ),
      ),
    )
    .orderBy('faceId')
    .limit(limit)
  return (await tx.run(query)).map(({ faceId }) => faceId)
}

/** Returns a crop and the templates of its face, which re-embedding needs; undefined if it is frozen. */
export async function findReEmbedSource(tx: ReadTx, faceId: string) {
  const query = tx.build.selectFrom('crops').selectAll().where('faceId', '=', faceId)
  const [crop] = await tx.run(query.where('projectId', 'in', unfrozenProjects(tx)))
  const templates = await findFaceTemplates(tx, [faceId])
  return crop && { crop, templates }
}

/** Counts the crops that a project stored, at most `listCountMax`. */
export function countCrops(tx: ReadTx, projectId: string): Promise<ListCount> {
  const rows = tx.build.selectFrom('crops').select('faceId').where('projectId', '=', projectId)
  return countListed(tx, rows)
}

/** Deletes all crops that a project stored. @returns the number of crops. */
export async function removeCrops(store: Store, projectId: string): Promise<number> {
  const count = await deleteInBatches(store, async (tx) => {
    // The lock waits for enrollments that read the switch before it was changed.
    await lockProjectGallery(tx, projectId)
    const ofBatch = isInBatch(tx, 'crops', sql`"projectId" = ${projectId}`)
    const query = tx.build.deleteFrom('crops').where(ofBatch).returning('faceId')
    const faceIds = (await tx.run(query)).map(({ faceId }) => faceId)
    // Last: a rotation in another gallery may replace the key between the two statements.
    await markForNewKey(tx, faceIds)
    return faceIds.length
  })
  await store.checkpoint()
  return count
}

/**
 * Marks the subjects of faces from which a template or crop is deleted: the next key rotation encrypts
 * their other data with a new key. Must be called in each transaction that deletes a template or crop
 * and keeps its subject, before a face is deleted.
 */
export async function markForNewKey(tx: Tx, faceIds: readonly string[]): Promise<void> {
  if (faceIds.length === 0) return
  const subjectIds = tx.build.selectFrom('faces').select('subjectId').where('faceId', 'in', faceIds)
  const mark = tx.build.updateTable('subjects').set({ needsNewKey: 1 })
  await tx.run(mark.where('subjectId', 'in', subjectIds).where('needsNewKey', '=', 0))
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
export function findSubjectsNeedingKey(tx: ReadTx, galleryId: string, limit: number) {
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
  const change = tx.build.updateTable('templates').set({ ciphertext })
  const ofFace = change.where('galleryId', '=', galleryId).where('faceId', '=', faceId)
  await tx.run(ofFace.where('modelId', '=', modelId))
}

/** A crop of a subject. That of a near miss is bound to the id of its row instead of a face. */
type SubjectCrop = Pick<CropRow, 'faceId' | 'ciphertext'> & { readonly isNearMiss: 0 | 1 }

/** Replaces the ciphertext of a crop. */
export async function replaceCropCiphertext(
  { build, run }: Tx,
  { faceId, ciphertext, isNearMiss }: SubjectCrop,
): Promise<void> {
  if (isNearMiss === 1)
    await run(build.updateTable('nearMissCrops').set({ ciphertext }).where('cropId', '=', faceId))
  else await run(build.updateTable('crops').set({ ciphertext }).where('faceId', '=', faceId))
}

/** Finds the stored crops of a subject, also those of near misses. */
export function findSubjectCrops({ build, run }: ReadTx, subjectId: string) {
  const ofFaces = build
    .selectFrom('crops')
    .innerJoin('faces', 'faces.faceId', 'crops.faceId')
    .select(['crops.faceId', 'crops.ciphertext', sql<0 | 1>`0`.as('isNearMiss')])
    .where('faces.subjectId', '=', subjectId)
  const nearMisses = build
    .selectFrom('nearMissCrops')
    .select(['cropId as faceId', 'ciphertext', sql<0 | 1>`1`.as('isNearMiss')])
    .where('subjectId', '=', subjectId)
  return run(ofFaces.unionAll(nearMisses))
}
