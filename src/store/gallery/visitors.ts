import type { ListCount } from '../../lib/limits/list-limits.ts'
import { type ReadTx, type Tx, dialectOf, sql } from '../database.ts'
import type { SubjectRow } from '../gallery-schema.ts'
import { countListed, selectPage } from '../lists.ts'

/** The id of the gallery with the unknown people of a gallery. It sorts after that gallery. */
export function visitorsGalleryId(galleryId: string): string {
  return `${galleryId}:visitors`
}

type ListedVisitors = {
  /** The gallery of the visitors. */
  readonly galleryId: string
  readonly isIgnored?: boolean | undefined
}

type VisitorPage = ListedVisitors & {
  readonly sortBy?: 'visitCount' | 'lastSeenAtUtc'
  readonly isDescending?: boolean
  /** The position of the last visitor of the previous page. */
  readonly after?: { readonly value: string | number; readonly subjectId: string } | undefined
  readonly limit: number
}

/** Finds visitors, by default those with the most pictures or the last ones seen first. */
export function findVisitors(tx: ReadTx, page: VisitorPage): Promise<readonly SubjectRow[]> {
  const { sortBy = 'lastSeenAtUtc', isDescending = true, after, limit } = page
  const rows = selectPage(listedRows(tx, page).selectAll(), {
    columns: [sortBy, 'subjectId'],
    after: after && [after.value, after.subjectId],
    isDescending,
    limit,
  })
  return tx.run(rows)
}

/** Counts the visitors of a list, at most `listCountMax`. */
export function countVisitors(tx: ReadTx, filter: ListedVisitors): Promise<ListCount> {
  return countListed(tx, listedRows(tx, filter).select('subjectId'))
}

function listedRows(tx: ReadTx, { galleryId, isIgnored }: ListedVisitors) {
  const all = visitorRows(tx).where('galleryId', '=', galleryId)
  return isIgnored === undefined ? all : all.where('isIgnored', '=', isIgnored ? 1 : 0)
}

/** Selects subjects that are visitors. SQLite would find them by the count, not by the other columns. */
function visitorRows({ build }: ReadTx) {
  const visitCount = dialectOf(build).withoutIndex('visitCount')
  return build.selectFrom('subjects').where(sql<boolean>`${visitCount} > 0`)
}

/** Records one more picture with a visitor. */
export async function addVisit(tx: Tx, subjectId: string, nowUtc: string): Promise<void> {
  const visit = { visitCount: sql<number>`"visitCount" + 1`, lastSeenAtUtc: nowUtc }
  await tx.run(tx.build.updateTable('subjects').set(visit).where('subjectId', '=', subjectId))
}

type VisitorsOfProject = {
  readonly projectId: string
  /** Only visitors that were not seen since; by default all. */
  readonly beforeUtc?: string
}

/** Finds the visitors of all galleries that calls of a project have created. */
export function findProjectVisitors(
  tx: ReadTx,
  { limit, ...filter }: VisitorsOfProject & { readonly limit: number },
): Promise<readonly SubjectRow[]> {
  return tx.run(selectOfProject(tx, filter).selectAll().limit(limit))
}

/** Counts these visitors, at most `listCountMax`. */
export function countProjectVisitors(tx: ReadTx, filter: VisitorsOfProject): Promise<ListCount> {
  return countListed(tx, selectOfProject(tx, filter).select('visitCount'))
}

function selectOfProject(tx: ReadTx, { projectId, beforeUtc }: VisitorsOfProject) {
  const query = visitorRows(tx).where('projectId', '=', projectId)
  return beforeUtc === undefined ? query : query.where('lastSeenAtUtc', '<', beforeUtc)
}
