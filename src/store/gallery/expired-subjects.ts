import type { RawBuilder } from 'kysely'
import { type ReadTx, sql } from '../database.ts'
import type { SubjectRow } from '../gallery-schema.ts'
import type { Database } from '../schema.ts'

/** The expired subjects of a gallery, until the sweep deletes them. */
export type ExpiryFilter = {
  readonly galleryId: string
  /** A subject has expired at and after its expiry time. */
  readonly nowUtc: string
}

/** Selects the ids of a gallery's expired subjects, for conditions that leave them out. */
export function selectExpiredIds(build: Database, { galleryId, nowUtc }: ExpiryFilter) {
  return build
    .selectFrom('subjects as expired')
    .select('expired.subjectId')
    .where('expired.galleryId', '=', galleryId)
    .where('expired.expiresAtUtc', '<=', nowUtc)
}

/**
 * The condition that a subject of a statement has not expired. It reads the rows of the subjects that the
 * statement finds without it, and no list of all expired ones.
 */
export const isUnexpired = (nowUtc: string) =>
  sql<boolean>`coalesce(subjects."expiresAtUtc" > ${nowUtc}, true)`

/** The faces of at most this number of expired subjects are counted: many can expire at one time. */
export const countedExpiredMax = 1000

/** Counts the unexpired subjects of a gallery. */
export function countUnexpiredSubjects(tx: ReadTx, filter: ExpiryFilter): Promise<number> {
  const expired = tx.build.selectFrom(selectExpiredIds(tx.build, filter).as('ids'))
  return readCount(tx, filter, sql`"subjectCount" - ${expired.select(sql`count(*)`.as('count'))}`)
}

/** Counts the faces of a gallery, without those of expired subjects up to the limit. */
export function countUnexpiredFaces(tx: ReadTx, filter: ExpiryFilter): Promise<number> {
  const expired = selectExpiredIds(tx.build, filter).limit(countedExpiredMax)
  const faces = tx.build.selectFrom('faces').where('subjectId', 'in', expired)
  return readCount(tx, filter, sql`"templateCount" - ${faces.select(sql`count(*)`.as('count'))}`)
}

async function readCount(tx: ReadTx, { galleryId }: ExpiryFilter, count: RawBuilder<number>) {
  const query = tx.build.selectFrom('galleries').select(count.as('count'))
  return (await tx.run(query.where('galleryId', '=', galleryId)))[0]?.count ?? 0
}

/** Finds the templates of a gallery's expired subjects, at most `countedExpiredMax` of them. */
export function findExpiredTemplates(tx: ReadTx, filter: ExpiryFilter) {
  const query = tx.build
    .selectFrom('faces')
    .innerJoin('templates', 'templates.faceId', 'faces.faceId')
    .select(['templates.faceId', 'modelId'])
    .where('subjectId', 'in', selectExpiredIds(tx.build, filter).limit(countedExpiredMax))
    .where('templates.galleryId', '=', filter.galleryId)
  return tx.run(query)
}

/** Whether a subject has expired; it has from the millisecond of its expiry time. */
export function hasExpired({ expiresAtUtc }: Pick<SubjectRow, 'expiresAtUtc'>, nowUtc: string) {
  return expiresAtUtc !== null && expiresAtUtc <= nowUtc
}
