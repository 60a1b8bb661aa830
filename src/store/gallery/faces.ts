import type { FaceRow, SubjectRow } from '../gallery-schema.ts'
import { type ReadTx, type Tx, dialectOf, sql } from '../database.ts'
import { isUnexpired } from './expired-subjects.ts'
import { findSubjectTemplates, type StoredTemplate } from './templates.ts'

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

/** The models of faces, with the faces; `modelId` is empty if no model has a template of the face. */
export type FaceModels = Awaited<ReturnType<typeof findFaceModels>>

/** Finds the faces of subjects, the oldest first, once for each model. */
export async function findFaceModels(tx: ReadTx, subjectIds: readonly string[]) {
  if (subjectIds.length === 0) return []
  const query = tx.build
    .selectFrom('faces')
    .leftJoin('templates', (on) =>
      on
        .onRef('templates.faceId', '=', 'faces.faceId')
        .onRef('templates.galleryId', '=', 'faces.galleryId'),
    )
    .select(['faces.faceId', 'subjectId', 'qualityScore', 'createdAtUtc'])
    .select(sql<string>`coalesce("modelId", '')`.as('modelId'))
    .where('subjectId', 'in', subjectIds)
  return tx.run(query.orderBy('createdAtUtc').orderBy('faces.faceId').orderBy('modelId'))
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

/** Finds faces of a gallery in the order of the last changes of their subjects, by an index. */
export function findFaces(tx: ReadTx, filter: FaceFilter): Promise<readonly FaceWithSubject[]> {
  const { galleryId, subjectId, faceId, unexpiredAtUtc: nowUtc, offset = 0, limit } = filter
  let query = tx.build
    .selectFrom('faces')
    .innerJoin('subjects', 'subjects.subjectId', 'faces.subjectId')
    .select(['faces.faceId', 'faces.subjectId', 'subjects.externalId'])
    .where('faces.galleryId', '=', galleryId)
  if (subjectId !== undefined) query = query.where('faces.subjectId', '=', subjectId)
  if (faceId !== undefined) query = query.where('faces.faceId', '=', faceId.toLowerCase())
  if (nowUtc !== undefined) query = query.where(isUnexpired(nowUtc))
  const ordered = query.orderBy('faces.sequence').orderBy('faces.subjectId').orderBy('faces.faceId')
  return tx.run(ordered.limit(limit).offset(offset))
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

/** Adds a face. Its number becomes that of all faces of the subject, see `markSubjectChanged`. */
export async function insertFace(tx: Tx, face: FaceRow): Promise<void> {
  await tx.run(tx.build.insertInto('faces').values(face))
  await markSubjectChanged(tx, face)
}

/** A change of a subject: its faces get the number of the gallery's change. */
export type SubjectChange = {
  readonly galleryId: string
  readonly subjectId: string
  readonly sequence: number
}

/** Deletes faces of a subject with their templates and crops. */
export async function removeFaces(tx: Tx, change: SubjectChange, faceIds: readonly string[]) {
  if (faceIds.length === 0) return
  await recordRemoval(tx, change)
  await tx.run(tx.build.deleteFrom('faces').where('faceId', 'in', faceIds))
  await markSubjectChanged(tx, change)
}

/** Records for copies of the gallery that a subject has lost faces. */
async function recordRemoval({ build, run }: Tx, change: SubjectChange): Promise<void> {
  const addition = build.insertInto('removals').values(change)
  await run(addition.onConflict((row) => row.doNothing()))
}

/**
 * Marks a subject as changed, so that copies of the gallery reload it. All faces of a subject have the
 * same number: a range of numbers contains whole subjects.
 */
export async function markSubjectChanged(
  tx: Tx,
  { subjectId, sequence }: Omit<SubjectChange, 'galleryId'>,
): Promise<void> {
  const query = tx.build.updateTable('faces').set({ sequence })
  await tx.run(query.where('subjectId', '=', subjectId).where('sequence', '<>', sequence))
}

/**
 * Moves faces of a subject, by default all, to another subject of the gallery. Their templates and
 * crops must be encrypted for that subject in the same transaction.
 */
export async function moveFaces(
  tx: Tx,
  { galleryId, fromSubjectId, toSubjectId, faceIds, sequence }: FaceMove,
): Promise<void> {
  const query = tx.build.updateTable('faces').set({ subjectId: toSubjectId, sequence })
  const ofSource = query.where('subjectId', '=', fromSubjectId)
  await tx.run(faceIds ? ofSource.where('faceId', 'in', faceIds) : ofSource)
  await recordRemoval(tx, { galleryId, subjectId: fromSubjectId, sequence })
  for (const subjectId of [fromSubjectId, toSubjectId])
    await markSubjectChanged(tx, { subjectId, sequence })
}

type FaceMove = Omit<SubjectChange, 'subjectId'> & {
  readonly fromSubjectId: string
  readonly toSubjectId: string
  readonly faceIds?: readonly string[]
}

/** Finds the subjects of faces of a gallery, on SQLite also by the primary key. */
export function findFaceOwners(tx: ReadTx, galleryId: string, faceIds: readonly string[]) {
  const query = tx.build
    .selectFrom('faces')
    .select(['faceId', 'subjectId'])
    .where(dialectOf(tx.build).withoutIndex('galleryId'), '=', galleryId)
  return tx.run(query.where('faceId', 'in', faceIds))
}

/** A changed subject with the templates that it has now, of all models; without any, it has no face. */
export type ChangedSubject = SubjectChangeCursor & {
  readonly templates: readonly StoredTemplate[]
}

export type SubjectChangeCursor = { readonly sequence: number; readonly subjectId: string }

/** Greater than every subject id: a cursor with it starts at the next change. */
export const afterAllSubjectIds = '\u{10FFFF}'

/**
 * Finds the subjects of a gallery that have changed after a cursor, in the order of the changes, and
 * where the changes after them begin; undefined at the end.
 */
export async function findSubjectChanges(
  tx: ReadTx,
  galleryId: string,
  { sequence, subjectId }: SubjectChangeCursor,
  limit: number,
) {
  const after = sql<boolean>`(sequence, "subjectId") > (${sequence}, ${subjectId})`
  const page = tx.build
    .selectFrom('faces')
    .select(['sequence', 'subjectId'])
    .where('galleryId', '=', galleryId)
    .where(after)
    .unionAll(
      tx.build
        .selectFrom('removals')
        .select(['sequence', 'subjectId'])
        .where('galleryId', '=', galleryId)
        .where(after),
    )
    .orderBy('sequence')
    .orderBy('subjectId')
    .limit(limit)
  const rows = await tx.run(page)
  // A subject is there once per face, and at each of its removals. The last change includes all.
  const last = new Map(rows.map((row) => [row.subjectId, row]))
  const changes = rows.filter((row) => last.get(row.subjectId) === row)
  const templates = await findSubjectTemplates(tx, [...last.keys()])
  const bySubject = Map.groupBy(templates, (template) => template.subjectId)
  return {
    subjects: changes.map((change) => ({
      ...change,
      templates: bySubject.get(change.subjectId) ?? [],
    })),
    next: rows.length < limit ? undefined : rows.at(-1),
  }
}
