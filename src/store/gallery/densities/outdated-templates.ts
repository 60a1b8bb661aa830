import type { FaceRow, TemplateRow } from '../../gallery-schema.ts'
import { selectOrderedTemplates, type StoredTemplate } from '../templates.ts'
import type { ReadTx, Tx } from '../../tx.ts'

/** A face with a template of an earlier version of a model. */
export type OutdatedFace = Pick<FaceRow, 'faceId' | 'subjectId'>

export type OutdatedFacePage = {
  readonly modelId: string
  /** The last face of the previous page; '' for the first page. */
  readonly afterFaceId: string
  readonly limit: number
}

/** Finds the faces of all galleries with a template of the model, ordered by id. */
export function findOutdatedFaces(
  tx: ReadTx,
  { modelId, afterFaceId, limit }: OutdatedFacePage,
): Promise<readonly OutdatedFace[]> {
  const query = tx.build
    .selectFrom('templates')
    .innerJoin('faces', (on) =>
      on
        .onRef('faces.faceId', '=', 'templates.faceId')
        .onRef('faces.galleryId', '=', 'templates.galleryId'),
    )
    .select(['templates.faceId', 'faces.subjectId'])
    .where('templates.modelId', '=', modelId)
    .where('templates.faceId', '>', afterFaceId)
    .orderBy('templates.faceId')
    .limit(limit)
  return tx.run(query)
}

/** Counts the templates of a model in all galleries. */
export async function countTemplatesOfModel(tx: ReadTx, modelId: string): Promise<number> {
  const query = tx.build
    .selectFrom('templates')
    .select((row) => row.fn.countAll<number>().as('count'))
    .where('modelId', '=', modelId)
  return (await tx.run(query))[0]?.count ?? 0
}

/**
 * Finds the templates of the subjects by these models, with the encrypted keys to decrypt them. The
 * models are compared here: with a condition in SQL, SQLite would read all templates of the models.
 */
export async function findTemplatesOfSubjects(
  tx: ReadTx,
  subjectIds: readonly string[],
  modelIds: readonly string[],
): Promise<readonly StoredTemplate[]> {
  if (subjectIds.length === 0) return []
  const rows = await tx.run(selectOrderedTemplates(tx).where('faces.subjectId', 'in', subjectIds))
  return rows.filter(({ modelId }) => modelIds.includes(modelId))
}

/** The faces of one gallery whose templates of a model are replaced. */
export type TemplateReplacement = {
  readonly galleryId: string
  /** The model of the templates that are deleted. */
  readonly modelId: string
  readonly faceIds: readonly string[]
  /** The templates that take their place. */
  readonly templates: readonly TemplateRow[]
  /** The gallery change that copies of the gallery reload the faces by. */
  readonly sequence: number
}

/**
 * Replaces templates and marks their faces as changed. The rows are deleted and inserted, because
 * vectors for search in the database refer to them by model, and triggers count them.
 */
export async function replaceTemplates(tx: Tx, replacement: TemplateReplacement): Promise<void> {
  const { galleryId, modelId, faceIds, templates, sequence } = replacement
  await tx.run(
    tx.build
      .deleteFrom('templates')
      .where('galleryId', '=', galleryId)
      .where('modelId', '=', modelId)
      .where('faceId', 'in', faceIds),
  )
  if (templates.length > 0) await tx.run(tx.build.insertInto('templates').values(templates))
  await tx.run(tx.build.updateTable('faces').set({ sequence }).where('faceId', 'in', faceIds))
}
