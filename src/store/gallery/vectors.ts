import { sql } from 'kysely'
import type { StoredTemplate } from './templates.ts'
import type { ReadTx, Tx } from '../tx.ts'
import { dialectOf } from '../dialect.ts'
import type { VectorFilter } from './nearest.ts'
import type { VectorRow } from '../vectors-schema.ts'

/** A vector to be kept; the database takes it as text. */
export type NewVector = Omit<VectorRow, 'embedding'> & {
  readonly embedding: Float16Array | null
}

/** Keeps vectors, or puts them in the place of those of other spaces. */
export async function upsertVectors(tx: Tx, vectors: readonly NewVector[]): Promise<void> {
  if (vectors.length === 0) return
  const rows = vectors.map((vector) => ({ ...vector, embedding: halfvec(vector.embedding) }))
  await tx.run(
    tx.build
      .insertInto('vectors')
      .values(rows)
      .onConflict((row) =>
        row.columns(['galleryId', 'faceId', 'modelId']).doUpdateSet((kept) => ({
          space: kept.ref('excluded.space'),
          slack: kept.ref('excluded.slack'),
          embedding: kept.ref('excluded.embedding'),
        })),
      ),
  )
}

export function halfvec(halves: Float16Array | null) {
  const text = halves && `[${halves.join(',')}]`
  return sql<string | null>`${text}::halfvec`
}

/** What there is to search by a model: how many templates, and their vectors by space. */
export type VectorCoverage = {
  readonly templates: number
  readonly spaces: readonly { readonly space: string | null; readonly vectors: number }[]
}

export async function findVectorCoverage(
  reading: ReadTx,
  galleryId: string,
  modelId: string,
): Promise<VectorCoverage> {
  const query = reading.build
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
  const rows = await reading.run(query)
  const spaces = rows.flatMap(({ space, vectors }) =>
    space === null || vectors === null ? [] : [{ space: space || null, vectors }],
  )
  return { templates: rows[0]?.templates ?? 0, spaces }
}

/** Where templates have no vector, and how many. */
export type MissingVectors = {
  readonly galleryId: string
  readonly modelId: string
  readonly lacking: number
}

export async function findMissingVectors(
  { build, run }: ReadTx,
  modelIds: readonly string[],
): Promise<readonly MissingVectors[]> {
  const made = build
    .selectFrom('vectorCounts')
    .select((row) => ['galleryId', 'modelId', row.fn.sum<number>('vectors').as('vectors')])
    .groupBy(['galleryId', 'modelId'])
  const lacking = sql<number>`templates - coalesce(made.vectors, 0)`
  const query = build
    .selectFrom('templateCounts as all')
    .leftJoin(made.as('made'), (join) =>
      join.onRef('made.galleryId', '=', 'all.galleryId').onRef('made.modelId', '=', 'all.modelId'),
    )
    .select(['all.galleryId', 'all.modelId', lacking.as('lacking')])
    .where('all.modelId', 'in', modelIds)
    .where(lacking, '>', 0)
  return run(query)
}

/** Templates of these faces by one model, that are there. */
export async function findModelTemplates(
  { build, run }: ReadTx,
  of: { readonly galleryId: string; readonly modelId: string },
  faceIds: readonly string[],
): Promise<readonly StoredTemplate[]> {
  const query = selectStoredTemplates(build)
    .where('templates.galleryId', '=', of.galleryId)
    .where('templates.modelId', '=', of.modelId)
    .where('templates.faceId', 'in', faceIds)
  return run(query)
}

/** Some templates of a gallery whose vectors lie in a space. */
export async function findTemplatesInSpace(
  { build, run }: ReadTx,
  from: { readonly galleryId: string; readonly space: string | null; readonly limit: number },
): Promise<readonly StoredTemplate[]> {
  const query = selectStoredTemplates(build)
    .innerJoin('vectors', (join) =>
      join
        .onRef('vectors.galleryId', '=', 'templates.galleryId')
        .onRef('vectors.faceId', '=', 'templates.faceId')
        .onRef('vectors.modelId', '=', 'templates.modelId'),
    )
    .where('vectors.galleryId', '=', from.galleryId)
    .where('vectors.space', from.space === null ? 'is' : '=', from.space)
    .limit(from.limit)
  return run(query)
}

/** Where vectors lie that are not rotated; or those that are. */
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

/** Whether the database has ever been searched by vectors. */
export async function hasVectors({ build, run }: ReadTx): Promise<boolean> {
  const [row] = await run(build.selectNoFrom(dialectOf(build).hasVectors.as('has')))
  return Boolean(row?.has)
}

/** Galleries with more than so many vectors of a model, and these vectors' dimensions. */
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

/** Faces of a gallery that a model is to describe, because no preferred one has described them. */
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

/** Templates with what it takes to open them. */
export function selectStoredTemplates(build: ReadTx['build']) {
  return build
    .selectFrom('templates')
    .innerJoin('faces', 'faces.faceId', 'templates.faceId')
    .innerJoin('subjects', 'subjects.subjectId', 'faces.subjectId')
    .selectAll('templates')
    .select(['faces.subjectId', 'faces.galleryId', 'subjects.keyId', 'subjects.wrappedKey'])
}
