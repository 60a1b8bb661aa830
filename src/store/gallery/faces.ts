import type { FaceRow, SubjectRow } from '../gallery-schema.ts'
import { sql } from '../load-kysely.ts'
import { selectExpiredIds } from './expired-subjects.ts'
import { findFaceTemplates, type StoredTemplate } from './templates.ts'
import type { ReadTx, Tx } from '../tx.ts'

/** Finds the faces of a subject, the oldest first. */
export function findSubjectFaces(tx: ReadTx, subjectId: string): Promise<readonly FaceRow[]> {
  const query = tx.build
    .selectFrom('faces')
    .selectAll()
    .where('subjectId', '=', subjectId)
    .orderBy('createdAtUtc')
    .orderBy('faceId')
  return tx.run(query)
}

export type FaceFilter = {
  readonly galleryId: string
  readonly subjectId?: string | undefined
  readonly faceId?: string | undefined
  /** Leaves out faces of subjects that have expired at this time. */
  readonly unexpiredAtUtc?: string | undefined
  /** The number of faces to skip. */
  readonly offset?: number
  readonly limit: number
}

/** A face with the ids of its subject. */
export type FaceWithSubject = Pick<FaceRow, 'faceId' | 'subjectId'> & Pick<SubjectRow, 'externalId'>

/** Finds faces of a gallery in the order of their last change, which an index provides. */
export function findFaces(tx: ReadTx, filter: FaceFilter): Promise<readonly FaceWithSubject[]> {
  const { galleryId, subjectId, faceId, unexpiredAtUtc: nowUtc, offset = 0, limit } = filter
  let query = tx.build
    .selectFrom('faces')
    .innerJoin('subjects', 'subjects.subjectId', 'faces.subjectId')
    .select(['faces.faceId', 'faces.subjectId', 'subjects.externalId'])
    .where('faces.galleryId', '=', galleryId)
  if (subjectId !== undefined) query = query.where('faces.subjectId', '=', subjectId)
  if (faceId !== undefined) query = query.where('faces.faceId', '=', faceId.toLowerCase())
  if (nowUtc !== undefined) {
    const expiredIds = selectExpiredIds(tx.build, { galleryId, nowUtc })
    query = query.where('faces.subjectId', 'not in', expiredIds)
  }
  return tx.run(query.orderBy('faces.sequence').orderBy('faces.faceId').limit(limit).offset(offset))
}

/** Returns the number of faces of each subject. */
export async function faceCounts(
  tx: ReadTx,
  subjectIds: readonly string[],
): Promise<ReadonlyMap<string, number>> {
  if (subjectIds.length === 0) return new Map()
  const query = tx.build
    .selectFrom('faces')
    .select((row) => ['subjectId', row.fn.countAll<number>().as('count')])
    .where('subjectId', 'in', subjectIds)
    .groupBy('subjectId')
  return new Map((await tx.run(query)).map(({ subjectId, count }) => [subjectId, count]))
}

export async function insertFace(tx: Tx, face: FaceRow): Promise<void> {
  await tx.run(tx.build.insertInto('faces').values(face))
}

export type FaceRemoval = { readonly galleryId: string; readonly sequence: number }

/** Deletes faces with their templates and crops, and records that for copies of the gallery. */
export async function removeFaces(
  tx: Tx,
  { galleryId, sequence }: FaceRemoval,
  faceIds: readonly string[],
) {
  if (faceIds.length === 0) return
  const rows = faceIds.map((faceId) => ({ galleryId, sequence, faceId }))
  await tx.run(tx.build.insertInto('removals').values(rows))
  await tx.run(tx.build.deleteFrom('faces').where('faceId', 'in', faceIds))
}

/** Marks a subject's faces as changed, because its groups changed: copies of the gallery reload them. */
export async function markSubjectFacesChanged(
  tx: Tx,
  subjectId: string,
  sequence: number,
): Promise<void> {
  await tx.run(tx.build.updateTable('faces').set({ sequence }).where('subjectId', '=', subjectId))
}

/**
 * Moves faces of a subject, by default all, to another subject of the gallery. Their templates and
 * crops must be encrypted for that subject in the same transaction.
 */
export async function moveFaces(
  tx: Tx,
  { fromSubjectId, toSubjectId, faceIds, sequence }: FaceMove,
): Promise<void> {
  const query = tx.build.updateTable('faces').set({ subjectId: toSubjectId, sequence })
  const ofSource = query.where('subjectId', '=', fromSubjectId)
  await tx.run(faceIds ? ofSource.where('faceId', 'in', faceIds) : ofSource)
}

type FaceMove = {
  readonly fromSubjectId: string
  readonly toSubjectId: string
  readonly faceIds?: readonly string[]
  readonly sequence: number
}

/** Finds the subjects of faces of a gallery. */
export function findFaceOwners(
  tx: ReadTx,
  galleryId: string,
  faceIds: readonly string[],
): Promise<readonly Pick<FaceRow, 'faceId' | 'subjectId'>[]> {
  const query = tx.build
    .selectFrom('faces')
    .select(['faceId', 'subjectId'])
    .where('galleryId', '=', galleryId)
  return tx.run(query.where('faceId', 'in', faceIds))
}

/** Marks a face as changed, because its templates changed: copies of the gallery reload it. */
export async function markFaceChanged(tx: Tx, faceId: string, sequence: number): Promise<void> {
  await tx.run(tx.build.updateTable('faces').set({ sequence }).where('faceId', '=', faceId))
}

/** The current state of a changed face; undefined `face`: it was deleted. */
export type FaceChange = {
  readonly sequence: number
  readonly faceId: string
  readonly face: ChangedFace | undefined
}

type ChangedFace = Pick<SubjectRow, 'subjectId' | 'galleryId' | 'keyId' | 'wrappedKey'> & {
  readonly templates: readonly StoredTemplate[]
}

export type FaceChangeCursor = { readonly sequence: number; readonly faceId: string }

/** Greater than every face id: a cursor with it starts at the next change. */
export const afterAllFaceIds = '\u{10FFFF}'

/** Finds changes of a gallery after a cursor, in their order. */
export async function findFaceChanges(
  tx: ReadTx,
  galleryId: string,
  { sequence, faceId }: FaceChangeCursor,
  limit: number,
): Promise<readonly FaceChange[]> {
  const after = sql<boolean>`(sequence, "faceId") > (${sequence}, ${faceId})`
  const page = tx.build
    .selectFrom('faces')
    .select(['sequence', 'faceId', sql<0 | 1>`1`.as('exists')])
    .where('galleryId', '=', galleryId)
    .where(after)
    .unionAll(
      tx.build
        .selectFrom('removals')
        .select(['sequence', 'faceId', sql<0 | 1>`0`.as('exists')])
        .where('galleryId', '=', galleryId)
        .where(after),
    )
    .orderBy('sequence')
    .orderBy('faceId')
    .limit(limit)
  const changes = await tx.run(page)
  const existingIds = changes.flatMap((change) => (change.exists ? [change.faceId] : []))
  const faces = await findChangedFaces(tx, existingIds)
  return changes.map((change) => ({
    sequence: change.sequence,
    faceId: change.faceId,
    face: faces.get(change.faceId),
  }))
}

async function findChangedFaces(
  tx: ReadTx,
  faceIds: readonly string[],
): Promise<Map<string, ChangedFace>> {
  const byFace = Map.groupBy(await findFaceTemplates(tx, faceIds), ({ faceId }) => faceId)
  const faces = new Map<string, ChangedFace>()
  for (const [faceId, templates] of byFace) {
    const [first] = templates
    if (first) faces.set(faceId, { ...first, templates })
  }
  return faces
}
