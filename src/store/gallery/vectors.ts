import { sql } from 'kysely'
import type { StoredTemplate } from './templates.ts'
import type { ReadTx, Tx } from '../tx.ts'
import { dialectOf } from '../dialect.ts'
import type { VectorRow } from '../vectors-schema.ts'

/** Selects templates of a gallery. */
export type VectorFilter = {
  readonly galleryId: string
  readonly modelId: string
  /** Faces that also have a template of one of these models are left out. */
  readonly preferredModelIds: readonly string[]
  /** Only subjects in one of these groups. */
  readonly groups?: readonly string[] | undefined
  readonly excludeSubjectId?: string | undefined
}

/** A vector to be stored. */
export type NewVector = Omit<VectorRow, 'embedding'> & {
  readonly embedding: Float16Array | null
}

/** Stores vectors and replaces existing vectors of the same templates. */
export async function upsertVectors(tx: Tx, vectors: readonly NewVector[]): Promise<void> {
  if (vectors.length === 0) return
  const rows = vectors.map((vector) => ({ ...vector, embedding: halfvec(vector.embedding) }))
  await tx.run(
    tx.build
      .insertInto('vectors')
      .values(rows)
      .onConflict((row) =>
        row.columns(['galleryId', 'faceId', 'modelId']).doUpdateSet((stored) => ({
          space: stored.ref('excluded.space'),
          slack: stored.ref('excluded.slack'),
          embedding: stored.ref('excluded.embedding'),
        })),
      ),
  )
}

/** Passes a vector to the database as text. */
export function halfvec(values: Float16Array | null) {
  const text = values && `[${values.join(',')}]`
  return sql<string | null>`${text}::halfvec`
}

/** The number of templates of a model, and the number of their vectors in each space. */
export type VectorCoverage = {
  readonly templates: number
  readonly spaces: readonly { readonly space: string | null; readonly vectors: number }[]
}

export async function findVectorCoverage(
  tx: ReadTx,
  galleryId: string,
  modelId: string,
): Promise<VectorCoverage> {
  const query = tx.build
    .selectFrom('templateCounts')
    .leftJoin('vectorCounts', (join) =>
      join
        .onRef('vectorCounts.galleryId', '=', 'templateCounts.galleryId')
        .onRef('vectorCounts.modelId', '=', 'templateCounts.modelId')
        .on('vectors', '>', 0),
    )
    .select(['templates', 'space', 'vectors'])
    .where('templateCounts.galleryId', '=', galleryId)
    .where('templateCounts.modelId', '=', modelId)
  const rows = await tx.run(query)
  const spaces = rows.flatMap(({ space, vectors }) =>
    space === null || vectors === null ? [] : [{ space: space || null, vectors }],
  )
  return { templates: rows[0]?.templates ?? 0, spaces }
}

/** The number of templates without a vector, by gallery and model. */
export type MissingVectors = {
  readonly galleryId: string
  readonly modelId: string
  readonly missing: number
}

export async function findMissingVectors(
  { build, run }: ReadTx,
  modelIds: readonly string[],
): Promise<readonly MissingVectors[]> {
  const vectors = build
    .selectFrom('vectorCounts')
    .select((row) => ['galleryId', 'modelId', row.fn.sum<number>('vectors').as('vectors')])
    .groupBy(['galleryId', 'modelId'])
  const missing = sql<number>`templates - coalesce(stored.vectors, 0)`
  const query = build
    .selectFrom('templateCounts as all')
    .leftJoin(vectors.as('stored'), (join) =>
      join
        .onRef('stored.galleryId', '=', 'all.galleryId')
        .onRef('stored.modelId', '=', 'all.modelId'),
    )
    .select(['all.galleryId', 'all.modelId', missing.as('missing')])
    .where('all.modelId', 'in', modelIds)
    .where(missing, '>', 0)
  return run(query)
}

/** Finds the templates of the faces by one model. */
export async function findModelTemplates(
  { build, run }: ReadTx,
  { galleryId, modelId }: { readonly galleryId: string; readonly modelId: string },
  faceIds: readonly string[],
): Promise<readonly StoredTemplate[]> {
  const query = selectStoredTemplates(build)
    .where('templates.galleryId', '=', galleryId)
    .where('templates.modelId', '=', modelId)
    .where('templates.faceId', 'in', faceIds)
  return run(query)
}

type SpaceFilter = {
  readonly galleryId: string
  readonly space: string | null
  readonly limit: number
}

/** Finds templates of a gallery whose vectors are in a space. */
export async function findTemplatesInSpace(
  { build, run }: ReadTx,
  { galleryId, space, limit }: SpaceFilter,
): Promise<readonly StoredTemplate[]> {
  const query = selectStoredTemplates(build)
    .innerJoin('vectors', (join) =>
      join
        .onRef('vectors.galleryId', '=', 'templates.galleryId')
        .onRef('vectors.faceId', '=', 'templates.faceId')
        .onRef('vectors.modelId', '=', 'templates.modelId'),
    )
    .where('vectors.galleryId', '=', galleryId)
    .where('vectors.space', space === null ? 'is' : '=', space)
    .limit(limit)
  return run(query)
}

/** Lists the galleries and spaces that contain rotated vectors, or vectors that are not rotated. */
export async function findSpacesInUse(
  { build, run }: ReadTx,
  { isRotated }: { readonly isRotated: boolean },
): Promise<readonly { readonly galleryId: string; readonly space: string | null }[]> {
  const query = build
    .selectFrom('vectorCounts')
    .select(['galleryId', 'space'])
    .distinct()
    .where('vectors', '>', 0)
    .where('space', isRotated ? '!=' : '=', '')
  const rows = await run(query)
  return rows.map(({ galleryId, space }) => ({ galleryId, space: space || null }))
}

/** Returns whether the tables for search in the database exist. */
export async function hasVectors({ build, run }: ReadTx): Promise<boolean> {
  const [row] = await run(build.selectNoFrom(dialectOf(build).hasVectors.as('hasVectors')))
  return Boolean(row?.hasVectors)
}

/** Finds galleries with more than `vectorsMin` vectors of a model, and the vectors' dimensions. */
export async function findLargeGalleries({ build, run }: ReadTx, vectorsMin: number) {
  const dimensions = sql<number | null>`(select vector_dims(v.embedding) from vectors v
    where v."galleryId" = "vectorCounts"."galleryId" and v."modelId" = "vectorCounts"."modelId"
      and v.slack is not null limit 1)`
  const query = build
    .selectFrom('vectorCounts')
    .select(['galleryId', 'modelId', dimensions.as('dimensions')])
    .groupBy(['galleryId', 'modelId'])
    .having((row) => row.fn.sum('vectors'), '>', vectorsMin)
  return run(query)
}

/** Counts the faces of a gallery with a template of the model and none of a preferred model. */
export async function countWithoutPreferred(
  { build, run }: ReadTx,
  filter: Pick<VectorFilter, 'galleryId' | 'modelId' | 'preferredModelIds'>,
): Promise<number> {
  const { galleryId, modelId, preferredModelIds } = filter
  const query = build
    .selectFrom('templates')
    .select((row) => row.fn.countAll<number>().as('count'))
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
  return (await run(query))[0]?.count ?? 0
}

/** Selects templates with their subjects and the subjects' encrypted keys. */
export function selectStoredTemplates(build: ReadTx['build']) {
  return build
    .selectFrom('templates')
    .innerJoin('faces', 'faces.faceId', 'templates.faceId')
    .innerJoin('subjects', 'subjects.subjectId', 'faces.subjectId')
    .selectAll('templates')
    .select(['faces.subjectId', 'faces.galleryId', 'subjects.keyId', 'subjects.wrappedKey'])
}
