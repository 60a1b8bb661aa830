import { countRows } from '../lists.ts'
import { type ReadTx, type Tx, sql } from '../database.ts'
import type { VectorRow } from '../vectors-schema.ts'
import { anyDenials } from './feedback/match-verdicts.ts'

/** Selects subjects of a gallery by the templates of a model. */
export type VectorFilter = {
  readonly galleryId: string
  readonly modelId: string
  /** Faces that also have a template of one of these models are not compared by this model. */
  readonly preferredModelIds: readonly string[]
  /** Only subjects in one of these groups. */
  readonly groups?: readonly string[] | undefined
  readonly excludeSubjectId?: string | undefined
  /** Leaves out subjects that have expired at this time. */
  readonly unexpiredAtUtc?: string | undefined
}

/** A vector to be stored; the database receives it as text. */
export type NewVector = Omit<VectorRow, 'galleryId' | 'isStale' | 'embedding'> & {
  readonly embedding: Float16Array | null
}

/** Subjects of a gallery whose templates have changed. */
export type VectorSubjects = { readonly galleryId: string; readonly subjectIds: readonly string[] }

/** Stores the vectors of subjects, in place of all that they have. */
export async function replaceVectors(
  { build, run }: Tx,
  { galleryId, subjectIds }: VectorSubjects,
  vectors: readonly NewVector[],
): Promise<void> {
  const former = build.deleteFrom('vectors').where('galleryId', '=', galleryId)
  await run(former.where('subjectId', 'in', subjectIds))
  if (vectors.length === 0) return
  const rows = vectors.map(({ embedding, ...vector }) => {
    return { ...vector, galleryId, isStale: false, embedding: halfvec(embedding) }
  })
  await run(build.insertInto('vectors').values(rows))
}

/** Passes a vector to the database as text. */
export function halfvec(values: Float16Array | null) {
  const text = values && `[${values.join(',')}]`
  return sql<string | null>`${text}::halfvec`
}

/**
 * Returns how many subjects a gallery has by a model, at most, whether any of their vectors is stale,
 * and whether any subject of the gallery has denials.
 */
export async function findVectorCoverage(tx: ReadTx, galleryId: string, modelId: string) {
  const stale = tx.build
    .selectFrom('vectors')
    .select('vectors.subjectId')
    .where('vectors.galleryId', '=', galleryId)
    .where('vectors.modelId', '=', modelId)
    .where('isStale', '=', true)
  const query = selectSizes(tx)
    .select((row) => [subjectsMax.as('subjectsMax'), row.exists(stale).as('hasStale')])
    .select(anyDenials(galleryId).as('hasDenials'))
    .where('galleries.galleryId', '=', galleryId)
    .where('templateCounts.modelId', '=', modelId)
  const [coverage] = await tx.run(query)
  return coverage ?? { subjectsMax: 0, hasStale: false, hasDenials: false }
}

const subjectsMax = sql<number>`least(templates, "subjectCount")`

function selectSizes({ build }: ReadTx) {
  return build
    .selectFrom('templateCounts')
    .innerJoin('galleries', 'galleries.galleryId', 'templateCounts.galleryId')
}

/** Returns the number of templates of a model in a gallery. */
export async function countTemplates(
  { build, run }: ReadTx,
  { galleryId, modelId }: Pick<VectorFilter, 'galleryId' | 'modelId'>,
): Promise<number> {
  const query = build.selectFrom('templateCounts').select('templates')
  const rows = await run(query.where('galleryId', '=', galleryId).where('modelId', '=', modelId))
  return rows[0]?.templates ?? 0
}

/** Counts the stale vectors of these models in each gallery that has any. */
export function findStaleVectors({ build, run }: ReadTx, modelIds: readonly string[]) {
  const query = build
    .selectFrom('vectors')
    .select((row) => ['galleryId', row.fn.countAll<number>().as('count')])
    .where('isStale', '=', true)
    .where('modelId', 'in', modelIds)
  return run(query.groupBy('galleryId'))
}

/** Finds the next subjects of a gallery with a stale vector of one of these models. */
export async function findStaleSubjectIds(
  { build, run }: ReadTx,
  { galleryId, modelIds }: { readonly galleryId: string; readonly modelIds: readonly string[] },
  limit: number,
): Promise<readonly string[]> {
  const query = build
    .selectFrom('vectors')
    .select('subjectId')
    .distinct()
    .where('galleryId', '=', galleryId)
    .where('isStale', '=', true)
    .where('modelId', 'in', modelIds)
  return (await run(query.limit(limit))).map(({ subjectId }) => subjectId)
}

/** Galleries with more than this many subjects by a model, and the dimensions of their vectors. */
export async function findLargeGalleries(tx: ReadTx, max: number) {
  const dimensions = sql<number | null>`(select vector_dims(v.embedding) from vectors v
    where v."galleryId" = galleries."galleryId" and v."modelId" = "templateCounts"."modelId"
      and v.slack is not null limit 1)`
  const query = selectSizes(tx)
    .select(['galleries.galleryId', 'modelId', dimensions.as('dimensions')])
    .where(subjectsMax, '>', max)
  return tx.run(query)
}

/** Counts the faces of a gallery with a template of the model and none of a preferred model. */
export function countWithoutPreferred(
  tx: ReadTx,
  filter: Pick<VectorFilter, 'galleryId' | 'modelId' | 'preferredModelIds'>,
): Promise<number> {
  const { galleryId, modelId, preferredModelIds } = filter
  const templates = tx.build
    .selectFrom('templates')
    .select('templates.faceId')
    .where('templates.galleryId', '=', galleryId)
    .where('templates.modelId', '=', modelId)
    .where((row) =>
      row.not(
        row.exists(
          row
            .selectFrom('templates as preferred')
            .select('preferred.faceId')
            .whereRef('preferred.galleryId', '=', 'templates.galleryId')
            .whereRef('preferred.faceId', '=', 'templates.faceId')
            .where('preferred.modelId', 'in', preferredModelIds),
        ),
      ),
    )
  return countRows(tx, templates)
}
