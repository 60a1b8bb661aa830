import { sql, type SelectQueryBuilder } from 'kysely'
import type { Schema } from '../schema.ts'
import type { StoredTemplate } from './templates.ts'
import type { ReadTx } from '../tx.ts'
import { halfvec, selectStoredTemplates } from './vectors.ts'

/** Which of the templates of a gallery. */
export type VectorFilter = {
  readonly galleryId: string
  readonly modelId: string
  /** Faces that one of these models has described as well are left to it. */
  readonly preferredModelIds: readonly string[]
  /** Only subjects in one of these. */
  readonly groups?: readonly string[] | undefined
  readonly excludeSubjectId?: string | undefined
}

export type NearestQuery = VectorFilter & {
  readonly probe: Float16Array
  readonly limit: number
}

/** A template near the probe, with what it takes to open it. */
export type NearestTemplate = StoredTemplate & {
  /** Of the stored vector, less what it has lost. */
  readonly distance: number
}

/** The nearest of all, by looking at each. */
export function nearestByScan(
  reading: ReadTx,
  asked: NearestQuery,
): Promise<readonly NearestTemplate[]> {
  const distance = sql<number>`(vectors.embedding <-> ${halfvec(asked.probe)}) - vectors.slack`
  const { groups, ...others } = asked
  let vectors = selectVectors(reading, others)
  // As a set, so that the planner can begin with the members of a small group.
  if (groups)
    vectors = vectors.where(sql<boolean>`vectors."subjectId" in (
      select g."subjectId" from "subjectGroups" g
      where g."galleryId" = ${asked.galleryId} and g.name in (${sql.join(groups)}))`)
  const nearest = vectors
    .select(['vectors.faceId', distance.as('distance')])
    .orderBy('distance')
    .orderBy('vectors.faceId')
    .limit(asked.limit)
  return joinTemplates(reading, nearest, asked)
}

/**
 * The nearest as the index finds them, which may miss some; fewer than the limit when it gives up
 * looking for such as the filter lets through. To be asked after `preferIndex`.
 */
export function nearestByIndex(
  reading: ReadTx,
  asked: NearestQuery,
): Promise<readonly NearestTemplate[]> {
  const { probe, modelId, limit } = asked
  // The very expressions of the index: parameters would hide from the planner that they are.
  const type = sql.raw(`halfvec(${probe.length})`)
  const distance = sql<number>`(vectors.embedding::${type}) <-> ${halfvec(probe)}::${type}`
  const nearest = selectVectors(reading, asked)
    .where(sql<boolean>`vectors."modelId" = ${sql.lit(modelId)}`)
    .select(['vectors.faceId', distance.as('distance')])
    .orderBy(distance)
    .limit(limit)
  return joinTemplates(reading, nearest, asked)
}

export type IndexScanOptions = {
  /** Rows that the walk through the graph keeps in mind. */
  readonly efSearch: number
  /** Rows that it looks at, at most, for such as the filter lets through. */
  readonly tuplesMax: number
}

/** Makes the transaction's searches use the index, and go on until enough is found. */
export async function preferIndex(
  reading: ReadTx,
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
  await setLocalSettings(reading, settings)
}

/** Plans each search by its own gallery: what is best for most would read others' rows for a small one. */
export async function forceCustomPlans(reading: ReadTx): Promise<void> {
  await setLocalSettings(reading, { plan_cache_mode: 'force_custom_plan', jit: 'off' })
}

async function setLocalSettings(
  reading: ReadTx,
  settings: Readonly<Record<string, string>>,
): Promise<void> {
  const set = Object.entries(settings).map(([name, value], at) =>
    sql<string>`set_config(${name}, ${value}, true)`.as(`set${at}`),
  )
  await reading.run(reading.build.selectNoFrom(set))
}

function selectVectors(reading: ReadTx, filter: NearestQuery) {
  const { galleryId, modelId } = filter
  return reading.build
    .selectFrom('vectors')
    .where('vectors.galleryId', '=', galleryId)
    .where('vectors.modelId', '=', modelId)
    .where('vectors.space', 'is', null)
    .where('vectors.slack', 'is not', null)
    .where(filterCondition('vectors', filter))
}

/** Conditions as questions of each row, which no planner turns into a join that loses the order. */
function filterCondition(table: 'vectors' | 'faces', filter: VectorFilter) {
  const { preferredModelIds, groups, excludeSubjectId } = filter
  const subjectId = sql.ref(`${table}.subjectId`)
  const conditions = [sql<boolean>`true`]
  if (excludeSubjectId !== undefined)
    conditions.push(sql<boolean>`${subjectId} <> ${excludeSubjectId}`)
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

/** The templates of the faces found; looked up after the search, whatever the planner thinks. */
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
    .select('nearest.distance')
    .where('templates.galleryId', '=', galleryId)
    .where('modelId', '=', modelId)
  return run(query)
}

/** A page of templates, after a face. */
export type TemplatePage = { readonly afterFaceId: string; readonly limit: number }

/** Templates that have no vector, or an obfuscated one of an earlier version, in face order. */
export async function findTemplatesWithoutVectors(
  { build, run }: ReadTx,
  filter: VectorFilter,
  { afterFaceId, limit }: TemplatePage,
): Promise<readonly StoredTemplate[]> {
  const query = selectStoredTemplates(build)
    .where('templates.galleryId', '=', filter.galleryId)
    .where('templates.modelId', '=', filter.modelId)
    .where('templates.faceId', '>', afterFaceId)
    .where(filterCondition('faces', filter))
    .where(
      // A question of each row: in the order of the index, it ends with the page.
      sql<boolean>`(select true from vectors v
        where v."galleryId" = templates."galleryId" and v."faceId" = templates."faceId"
          and v."modelId" = templates."modelId" and v.space is null limit 1) is null`,
    )
    .orderBy('templates.faceId')
    .limit(limit)
  return run(query)
}

/** Subjects in any of these groups, counted up to a limit. */
export async function countSubjectsInGroups(
  { build, run }: ReadTx,
  { galleryId, groups }: { readonly galleryId: string; readonly groups: readonly string[] },
  limit: number,
): Promise<number> {
  const some = build
    .selectFrom('subjectGroups')
    .select('subjectId')
    .where('galleryId', '=', galleryId)
    .where('name', 'in', groups)
    .limit(limit)
  const [row] = await run(
    build.selectFrom(some.as('some')).select((of) => of.fn.countAll<number>().as('count')),
  )
  return row?.count ?? 0
}
