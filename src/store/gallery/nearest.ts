import type { SelectQueryBuilder } from 'kysely'
import { countRows, setLocalSettings } from '../lists.ts'
import { type ReadTx, sql } from '../database.ts'
import type { Schema } from '../schema.ts'
import type { StoredTemplate } from './templates.ts'
import { halfvec, type VectorFilter } from './vectors.ts'

export type NearestQuery = VectorFilter & {
  readonly probe: Float16Array
  readonly limit: number
}

/** A template of a subject near the probe, with the encrypted key to decrypt it. */
export type NearestTemplate = StoredTemplate & {
  /** The distance of the subject's vector, minus its slack in exact scans. */
  readonly distance: number
}

/** Finds the templates of the nearest subjects exactly, of all models, by a scan of all rows. */
export function nearestByScan(tx: ReadTx, query: NearestQuery) {
  const distance = sql<number>`(vectors.embedding <-> ${halfvec(query.probe)}) - vectors.slack`
  const { groups, ...ungrouped } = query
  let vectors = selectVectors(tx, ungrouped)
  // As a subquery, so that the planner can start with the members of a small group.
  if (groups)
    vectors = vectors.where(sql<boolean>`vectors."subjectId" in (
      select g."subjectId" from "subjectGroups" g
      where g."galleryId" = ${query.galleryId} and g.name in (${sql.join(groups)}))`)
  const nearest = vectors
    .select(['vectors.subjectId', distance.as('distance')])
    .orderBy('distance')
    .orderBy('vectors.subjectId')
    .limit(query.limit)
  return joinTemplates(tx, nearest, query)
}

/**
 * Finds the templates of the nearest subjects with the index, which may miss some. It returns fewer than the limit
 * if the index scan ends before enough rows pass the filter. Call `preferIndex` first.
 */
export function nearestByIndex(tx: ReadTx, query: NearestQuery) {
  const { probe, modelId, limit } = query
  // These are the exact expressions of the index. With parameters the planner would not use it.
  const type = sql.raw(`halfvec(${probe.length})`)
  const distance = sql<number>`(vectors.embedding::${type}) <-> ${halfvec(probe)}::${type}`
  const nearest = selectVectors(tx, query)
    .where(sql<boolean>`vectors."modelId" = ${sql.lit(modelId)}`)
    .select(['vectors.subjectId', distance.as('distance')])
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
export async function preferIndex(tx: ReadTx, { efSearch, tuplesMax }: IndexScanOptions) {
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

function selectVectors(tx: ReadTx, filter: NearestQuery) {
  let query = selectSubjects(tx, filter).where('vectors.slack', 'is not', null)
  const { preferredModelIds } = filter
  // The vector contains faces that are compared by another model.
  if (preferredModelIds.length > 0) query = query.where(sql<boolean>`not ${isMigrated(filter)}`)
  return query
}

/** Conditions as scalar subqueries, which the planner cannot turn into a join that loses the order. */
function selectSubjects(tx: ReadTx, filter: VectorFilter) {
  const { galleryId, modelId, groups, excludeSubjectId, unexpiredAtUtc } = filter
  let query = tx.build
    .selectFrom('vectors')
    .where('vectors.galleryId', '=', galleryId)
    .where('vectors.modelId', '=', modelId)
  if (excludeSubjectId !== undefined)
    query = query.where('vectors.subjectId', '<>', excludeSubjectId)
  // An uncorrelated subquery, which runs once.
  if (unexpiredAtUtc !== undefined)
    query = query.where(sql<boolean>`vectors."subjectId" not in (
      select e."subjectId" from subjects e
      where e."galleryId" = ${galleryId} and e."expiresAtUtc" <= ${unexpiredAtUtc})`)
  if (groups)
    query = query.where(sql<boolean>`(select true from "subjectGroups" g
      where g."subjectId" = vectors."subjectId" and g.name in (${sql.join(groups)}) limit 1)`)
  return query
}

/** Whether a face of the subject has a template of the model and one of a preferred model. */
function isMigrated({ galleryId, modelId, preferredModelIds }: VectorFilter) {
  return sql<boolean>`vectors."subjectId" in (
    select f."subjectId" from faces f
      join templates p on p."galleryId" = f."galleryId" and p."faceId" = f."faceId"
      join templates t on t."galleryId" = f."galleryId" and t."faceId" = f."faceId"
    where f."galleryId" = ${galleryId} and p."galleryId" = ${galleryId}
      and t."galleryId" = ${galleryId} and t."modelId" = ${modelId}
      and p."modelId" in (${sql.join(preferredModelIds)}))`
}

/** Whether a face of the subject has a template of the model and none of a preferred model. */
function hasUnmigrated({ galleryId, modelId, preferredModelIds }: VectorFilter) {
  return sql<boolean>`exists (select from faces f
    join templates t on t."galleryId" = f."galleryId" and t."faceId" = f."faceId"
    where f."subjectId" = vectors."subjectId"
      and t."galleryId" = ${galleryId} and t."modelId" = ${modelId}
      and not exists (select from templates p
        where p."galleryId" = ${galleryId} and p."faceId" = f."faceId"
          and p."modelId" in (${sql.join(preferredModelIds)})))`
}

/** Reads the templates of the nearest subjects. The materialized CTE makes the search run first. */
async function joinTemplates(
  { build, run }: ReadTx,
  nearest: SelectQueryBuilder<Schema, 'vectors', { subjectId: string; distance: number }>,
  { galleryId }: NearestQuery,
): Promise<readonly NearestTemplate[]> {
  const query = build
    .with(
      (cte) => cte('nearest').materialized(),
      () => nearest,
    )
    .selectFrom('nearest')
    .innerJoin('subjects', 'subjects.subjectId', 'nearest.subjectId')
    .innerJoin('faces', 'faces.subjectId', 'nearest.subjectId')
    .innerJoin('templates', 'templates.faceId', 'faces.faceId')
    .selectAll('templates')
    .select(['faces.subjectId', 'faces.galleryId', 'subjects.keyId', 'subjects.wrappedKey'])
    .select('subjects.expiresAtUtc')
    .select('nearest.distance')
    .where('templates.galleryId', '=', galleryId)
  return run(query)
}

/** A page of subjects that follow a subject. */
export type SubjectPage = { readonly afterSubjectId: string; readonly limit: number }

/**
 * Finds subjects that no vector represents: those with a stale vector, and those of whose faces only
 * some are compared by the model.
 */
export async function findSubjectsWithoutVectors(
  tx: ReadTx,
  filter: VectorFilter,
  { afterSubjectId, limit }: SubjectPage,
): Promise<readonly string[]> {
  const isMixed =
    filter.preferredModelIds.length > 0
      ? sql<boolean>`${isMigrated(filter)} and ${hasUnmigrated(filter)}`
      : sql<boolean>`false`
  const query = selectSubjects(tx, filter)
    .select('vectors.subjectId')
    .where('vectors.subjectId', '>', afterSubjectId)
    .where((row) => row.or([row('vectors.isStale', '=', true), isMixed]))
    .orderBy('vectors.subjectId')
    .limit(limit)
  return (await tx.run(query)).map(({ subjectId }) => subjectId)
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
