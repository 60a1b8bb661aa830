import { countRows } from '../lists.ts'
import { sql } from '../load-kysely.ts'
import { selectStoredTemplates, type StoredTemplate } from './templates.ts'
import type { ReadTx, Tx } from '../tx.ts'
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
  /** Leaves out subjects that have expired at this time. */
  readonly unexpiredAtUtc?: string | undefined
}

/** A vector to be stored; the database receives it as text. */
export type NewVector = Omit<VectorRow, 'embedding'> & {
  readonly embedding: Float16Array | null
}

/** Inserts vectors. They replace vectors of the same templates, which can be of another subject. */
export async function upsertVectors(tx: Tx, vectors: readonly NewVector[]): Promise<void> {
  if (vectors.length === 0) return
  const rows = vectors.map((vector) => ({ ...vector, embedding: halfvec(vector.embedding) }))
  await tx.run(
    tx.build
      .insertInto('vectors')
      .values(rows)
      .onConflict((row) =>
        row.columns(['galleryId', 'faceId', 'modelId']).doUpdateSet((stored) => ({
          // A face changes its subject when two subjects are merged.
          subjectId: stored.ref('excluded.subjectId'),
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

/** Number of templates of a model, and how many of them have a vector. */
export type VectorCoverage = { readonly templates: number; readonly vectors: number }

export async function findVectorCoverage(
  { build, run }: ReadTx,
  galleryId: string,
  modelId: string,
): Promise<VectorCoverage> {
  const query = selectCoverage(build)
    .select(['templates', vectorCount.as('vectors')])
    .where('all.galleryId', '=', galleryId)
    .where('all.modelId', '=', modelId)
  return (await run(query))[0] ?? { templates: 0, vectors: 0 }
}

/** Number of templates without a vector, for one gallery and model. */
export type MissingVectors = {
  readonly galleryId: string
  readonly modelId: string
  readonly missing: number
}

export async function findMissingVectors(
  { build, run }: ReadTx,
  modelIds: readonly string[],
): Promise<readonly MissingVectors[]> {
  const missing = sql<number>`templates - ${vectorCount}`
  const query = selectCoverage(build)
    .select(['all.galleryId', 'all.modelId', missing.as('missing')])
    .where('all.modelId', 'in', modelIds)
    .where(missing, '>', 0)
  return run(query)
}

function selectCoverage(build: ReadTx['build']) {
  return build
    .selectFrom('templateCounts as all')
    .leftJoin('vectorCounts', (join) =>
      join
        .onRef('vectorCounts.galleryId', '=', 'all.galleryId')
        .onRef('vectorCounts.modelId', '=', 'all.modelId'),
    )
}

const vectorCount = sql<number>`coalesce(vectors, 0)`

/** Templates of these faces by one model, that are there. */
export async function findModelTemplates(
  tx: ReadTx,
  { galleryId, modelId }: { readonly galleryId: string; readonly modelId: string },
  faceIds: readonly string[],
): Promise<readonly StoredTemplate[]> {
  const query = selectStoredTemplates(tx)
    .where('templates.galleryId', '=', galleryId)
    .where('templates.modelId', '=', modelId)
    .where('templates.faceId', 'in', faceIds)
  return tx.run(query)
}

/** Galleries with more than this many vectors of a model, and the dimensions of these vectors. */
export async function findLargeGalleries({ build, run }: ReadTx, vectorsMax: number) {
  const dimensions = sql<number | null>`(select vector_dims(v.embedding) from vectors v
    where v."galleryId" = "vectorCounts"."galleryId" and v."modelId" = "vectorCounts"."modelId"
      and v.slack is not null limit 1)`
  const query = build
    .selectFrom('vectorCounts')
    .select(['galleryId', 'modelId', dimensions.as('dimensions')])
    .where('vectors', '>', vectorsMax)
  return run(query)
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
