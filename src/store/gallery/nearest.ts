import type { SelectQueryBuilder } from 'kysely'
import { countRows } from '../lists.ts'
import { sql } from '../load-kysely.ts'
import type { Schema } from '../schema.ts'
import { selectStoredTemplates, type StoredTemplate } from './templates.ts'
import type { ReadTx } from '../tx.ts'
import { halfvec, type VectorFilter } from './vectors.ts'

export type NearestQuery = VectorFilter & {
  readonly probe: Float16Array
  readonly limit: number
}

/** A template near the probe, with the encrypted key to decrypt it. */
export type NearestTemplate = StoredTemplate & {
  /** The distance of the stored vector, minus its slack in exact scans. */
  readonly distance: number
}

/** Finds the nearest templates exactly, by a scan of all rows. */
export function nearestByScan(
  tx: ReadTx,
  query: NearestQuery,
): Promise<readonly NearestTemplate[]> {
  const distance = sql<number>`(vectors.embedding <-> ${halfvec(query.probe)}) - vectors.slack`
  const { groups, ...ungrouped } = query
  let vectors = selectVectors(tx, ungrouped)
  // As a subquery, so that the planner can start with the members of a small group.
  if (groups)
    vectors = vectors.where(sql<boolean>`vectors."subjectId" in (
      select g."subjectId" from "subjectGroups" g
      where g."galleryId" = ${query.galleryId} and g.name in (${sql.join(groups)}))`)
  const nearest = vectors
    .select(['vectors.faceId', distance.as('distance')])
    .orderBy('distance')
    .orderBy('vectors.faceId')
    .limit(query.limit)
  return joinTemplates(tx, nearest, query)
}

/**
 * Finds the nearest templates with the index, which may miss some. It returns fewer than the limit
 * if the index scan ends before enough rows pass the filter. Call `preferIndex` first.
 */
export function nearestByIndex(
  tx: ReadTx,
  query: NearestQuery,
): Promise<readonly NearestTemplate[]> {
  const { probe, modelId, limit } = query
  // These are the exact expressions of the index. With parameters the planner would not use it.
  const type = sql.raw(`halfvec(${probe.length})`)
  const distance = sql<number>`(vectors.embedding::${type}) <-> ${halfvec(probe)}::${type}`
  const nearest = selectVectors(tx, query)
    .where(sql<boolean>`vectors."modelId" = ${sql.lit(modelId)}`)
    .select(['vectors.faceId', distance.as('distance')])
    .orderBy(distance)
    .limit(limit)
  return joinTemplates(tx, nearest, query)
}

export type IndexScanOptions = {
  /** The number of candidate rows that the graph search keeps. */
  readonly efSearch: number
  /** The maximum number of rows that it visits until enough pass the filter. */
  readonly tuplesMax: number
}

/** Makes the transaction's searches use the index and continue until enough rows are found. */
export async function preferIndex(
  tx: ReadTx,
  { efSearch, tuplesMax }: IndexScanOptions,
): Promise<void> {
  const settings = {
    'hnsw.ef_search': String(efSearch),
    'hnsw.iterative_scan': 'relaxed_order',
    'hnsw.max_scan_tuples': String(tuplesMax),
    enable_seqscan: 'off',
    enable_bitmapscan: 'off',
    enable_sort: 'off',
  }
  await setLocalSettings(tx, settings)
}

/** Plans each search for its gallery. A generic plan would read other galleries' rows for a small one. */
export async function forceCustomPlans(tx: ReadTx): Promise<void> {
  await setLocalSettings(tx, { plan_cache_mode: 'force_custom_plan', jit: 'off' })
}

async function setLocalSettings(
  tx: ReadTx,
  settings: Readonly<Record<string, string>>,
): Promise<void> {
  const calls = Object.entries(settings).map(([name, value], index) =>
    sql<string>`set_config(${name}, ${value}, true)`.as(`set${index}`),
  )
  await tx.run(tx.build.selectNoFrom(calls))
}

function selectVectors(tx: ReadTx, filter: NearestQuery) {
  const { galleryId, modelId } = filter
  return tx.build
    .selectFrom('vectors')
    .where('vectors.galleryId', '=', galleryId)
    .where('vectors.modelId', '=', modelId)
    .where('vectors.slack', 'is not', null)
    .where(filterCondition('vectors', filter))
}

/** Conditions as scalar subqueries, which the planner cannot turn into a join that loses the order. */
function filterCondition(table: 'vectors' | 'faces', filter: VectorFilter) {
  const { galleryId, preferredModelIds, groups, excludeSubjectId, unexpiredAtUtc } = filter
  const subjectId = sql.ref(`${table}.subjectId`)
  const conditions = [sql<boolean>`true`]
  if (excludeSubjectId !== undefined)
    conditions.push(sql<boolean>`${subjectId} <> ${excludeSubjectId}`)
  // An uncorrelated subquery, which runs once.
  if (unexpiredAtUtc !== undefined)
    conditions.push(sql<boolean>`${subjectId} not in (
      select e."subjectId" from subjects e
      where e."galleryId" = ${galleryId} and e."expiresAtUtc" <= ${unexpiredAtUtc})`)
  if (groups)
    conditions.push(sql<boolean>`(select true from "subjectGroups" g
      where g."subjectId" = ${subjectId} and g.name in (${sql.join(groups)}) limit 1)`)
  if (preferredModelIds.length > 0)
    conditions.push(sql<boolean>`(select true from templates p
      where p."galleryId" = ${sql.ref(`${table}.galleryId`)}
        and p."faceId" = ${sql.ref(`${table}.faceId`)}
        and p."modelId" in (${sql.join(preferredModelIds)}) limit 1) is null`)
  return sql<boolean>`(${sql.join(conditions, sql` and `)})`
}

type NearestSelect = SelectQueryBuilder<Schema, 'vectors', { faceId: string; distance: number }>

/** Reads the templates of the nearest faces. The materialized CTE makes the search run first. */
async function joinTemplates(
  { build, run }: ReadTx,
  nearest: NearestSelect,
  { galleryId, modelId }: NearestQuery,
): Promise<readonly NearestTemplate[]> {
  const query = build
    .with(
      (cte) => cte('nearest').materialized(),
      () => nearest,
    )
    .selectFrom('nearest')
    .innerJoin('templates', 'templates.faceId', 'nearest.faceId')
    .innerJoin('faces', 'faces.faceId', 'templates.faceId')
    .innerJoin('subjects', 'subjects.subjectId', 'faces.subjectId')
    .selectAll('templates')
    .select(['faces.subjectId', 'faces.galleryId', 'subjects.keyId', 'subjects.wrappedKey'])
    .select('subjects.expiresAtUtc')
    .select('nearest.distance')
    .where('templates.galleryId', '=', galleryId)
    .where('modelId', '=', modelId)
  return run(query)
}

/** A page of templates that follow a face. */
export type TemplatePage = { readonly afterFaceId: string; readonly limit: number }

/** Templates that have no vector, in face order. */
export async function findTemplatesWithoutVectors(
  tx: ReadTx,
  filter: VectorFilter,
  { afterFaceId, limit }: TemplatePage,
): Promise<readonly StoredTemplate[]> {
  const query = selectStoredTemplates(tx)
    .where('templates.galleryId', '=', filter.galleryId)
    .where('templates.modelId', '=', filter.modelId)
    .where('templates.faceId', '>', afterFaceId)
    .where(filterCondition('faces', filter))
    .where(
      // As a scalar subquery: the scan keeps the index's order and stops at the end of the page.
      sql<boolean>`(select true from vectors v
        where v."galleryId" = templates."galleryId" and v."faceId" = templates."faceId"
          and v."modelId" = templates."modelId" limit 1) is null`,
    )
    .orderBy('templates.faceId')
    .limit(limit)
  return tx.run(query)
}

/** Counts the subjects in any of the groups, up to a limit. */
export function countSubjectsInGroups(
  tx: ReadTx,
  { galleryId, groups }: { readonly galleryId: string; readonly groups: readonly string[] },
  limit: number,
): Promise<number> {
  const subjects = tx.build
    .selectFrom('subjectGroups')
    .select('subjectId')
    .where('galleryId', '=', galleryId)
    .where('name', 'in', groups)
    .limit(limit)
  return countRows(tx, subjects)
}
