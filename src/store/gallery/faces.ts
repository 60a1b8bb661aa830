import { sql } from 'kysely'
import type { FaceRow, SubjectRow } from '../schema.ts'
import { findFaceTemplates, type StoredTemplate } from './templates.ts'
import type { ReadTx, Tx } from '../tx.ts'

/** The faces of a subject, the oldest first. */
export function findSubjectFaces(reading: ReadTx, subjectId: string): Promise<readonly FaceRow[]> {
  const query = reading.build
    .selectFrom('faces')
    .selectAll()
    .where('subjectId', '=', subjectId)
    .orderBy('createdAtUtc')
    .orderBy('faceId')
  return reading.run(query)
}

export type FaceFilter = {
  readonly galleryId: string
  readonly subjectId?: string | undefined
  readonly faceId?: string | undefined
  /** Faces to pass over. */
  readonly offset?: number
  readonly limit: number
}

/** A face and whose it is. */
export type FaceWithSubject = Pick<FaceRow, 'faceId' | 'subjectId'> & Pick<SubjectRow, 'externalId'>

/** Faces of a gallery in the order of their last change, which its index has. */
export function findFaces(
  reading: ReadTx,
  filter: FaceFilter,
): Promise<readonly FaceWithSubject[]> {
  const { galleryId, subjectId, faceId, offset = 0, limit } = filter
  let query = reading.build
    .selectFrom('faces')
    .innerJoin('subjects', 'subjects.subjectId', 'faces.subjectId')
    .select(['faces.faceId', 'faces.subjectId', 'subjects.externalId'])
    .where('faces.galleryId', '=', galleryId)
  if (subjectId !== undefined) query = query.where('faces.subjectId', '=', subjectId)
  if (faceId !== undefined) query = query.where('faces.faceId', '=', faceId.toLowerCase())
  return reading.run(
    query.orderBy('faces.sequence').orderBy('faces.faceId').limit(limit).offset(offset),
  )
}

/** How many faces each subject has. */
export async function faceCounts(
  reading: ReadTx,
  subjectIds: readonly string[],
): Promise<ReadonlyMap<string, number>> {
  if (subjectIds.length === 0) return new Map()
  const query = reading.build
    .selectFrom('faces')
    .select((row) => ['subjectId', row.fn.countAll<number>().as('count')])
    .where('subjectId', 'in', subjectIds)
    .groupBy('subjectId')
  return new Map((await reading.run(query)).map(({ subjectId, count }) => [subjectId, count]))
}

export async function insertFace(tx: Tx, face: FaceRow): Promise<void> {
  await tx.run(tx.build.insertInto('faces').values(face))
}

export type FaceRemoval = { readonly galleryId: string; readonly sequence: number }

/** Removes faces with their templates and crops, and tells the gallery's copies so. */
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

/** Makes copies of the gallery look at a subject's faces again: its groups have changed. */
export async function markSubjectFacesChanged(
  tx: Tx,
  subjectId: string,
  sequence: number,
): Promise<void> {
  await tx.run(tx.build.updateTable('faces').set({ sequence }).where('subjectId', '=', subjectId))
}

/** Makes copies of the gallery look at a face again: its templates have changed. */
export async function markFaceChanged(tx: Tx, faceId: string, sequence: number): Promise<void> {
  await tx.run(tx.build.updateTable('faces').set({ sequence }).where('faceId', '=', faceId))
}

/** A face as it has become, or that it is no more. */
export type FaceChange = {
  readonly sequence: number
  readonly faceId: string
  readonly face: ChangedFace | undefined
}

type ChangedFace = Pick<SubjectRow, 'subjectId' | 'galleryId' | 'keyId' | 'wrappedKey'> & {
  readonly templates: readonly StoredTemplate[]
}

export type FaceChangeCursor = { readonly sequence: number; readonly faceId: string }

/** After every id of the change that was reached. */
export const afterAllFaceIds = '\u{10FFFF}'

/** Changes of a gallery after a place, in their order. */
export async function findFaceChanges(
  reading: ReadTx,
  galleryId: string,
  { sequence, faceId }: FaceChangeCursor,
  limit: number,
): Promise<readonly FaceChange[]> {
  const after = sql<boolean>`(sequence, "faceId") > (${sequence}, ${faceId})`
  const page = reading.build
    .selectFrom('faces')
    .select(['sequence', 'faceId', sql<0 | 1>`1`.as('isThere')])
    .where('galleryId', '=', galleryId)
    .where(after)
    .unionAll(
      reading.build
        .selectFrom('removals')
        .select(['sequence', 'faceId', sql<0 | 1>`0`.as('isThere')])
        .where('galleryId', '=', galleryId)
        .where(after),
    )
    .orderBy('sequence')
    .orderBy('faceId')
    .limit(limit)
  const places = await reading.run(page)
  const there = places.flatMap((place) => (place.isThere ? [place.faceId] : []))
  const faces = await findChangedFaces(reading, there)
  return places.map((place) => ({
    sequence: place.sequence,
    faceId: place.faceId,
    face: faces.get(place.faceId),
  }))
}

async function findChangedFaces(
  reading: ReadTx,
  faceIds: readonly string[],
): Promise<Map<string, ChangedFace>> {
  const byFace = Map.groupBy(await findFaceTemplates(reading, faceIds), ({ faceId }) => faceId)
  const faces = new Map<string, ChangedFace>()
  for (const [faceId, templates] of byFace) {
    const [first] = templates
    if (first) faces.set(faceId, { ...first, templates })
  }
  return faces
}

/** Removals are for copies that are behind; when there is no copy, they are no use. */
export async function deleteRemovals(tx: Tx): Promise<void> {
  await tx.run(tx.build.deleteFrom('removals'))
}
