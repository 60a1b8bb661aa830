import { type ReadTx, sql } from '../../database.ts'
import { isUnexpired, selectExpiredIds } from '../expired-subjects.ts'
import { selectStoredTemplates } from '../templates.ts'

export type GalleryTemplatesFilter = {
  readonly galleryId: string
  readonly modelId: string
  /** Leaves out templates of subjects that have expired at this time. */
  readonly nowUtc: string
}

/** Reads a page of a gallery's templates of one model, in the order of their random face ids. */
export function findGalleryTemplates(
  tx: ReadTx,
  { galleryId, modelId, nowUtc }: GalleryTemplatesFilter,
  page: { readonly afterFaceId: string; readonly limit: number },
) {
  return tx.run(
    selectStoredTemplates(tx)
      .select(['subjects.externalId', 'faces.createdAtUtc'])
      .where('templates.galleryId', '=', galleryId)
      .where('templates.modelId', '=', modelId)
      .where('templates.faceId', '>', page.afterFaceId)
      .where(isUnexpired(nowUtc))
      .orderBy('templates.faceId')
      .limit(page.limit),
  )
}

/** Counts a gallery's templates of one model, and its faces without one. */
export async function countGalleryTemplates(
  { build, run }: ReadTx,
  { galleryId, modelId, nowUtc }: GalleryTemplatesFilter,
) {
  const faces = build
    .selectFrom('faces')
    .where('faces.galleryId', '=', galleryId)
    .where('faces.subjectId', 'not in', selectExpiredIds(build, { galleryId, nowUtc }))
  const templates = faces
    .innerJoin('templates', (on) =>
      on
        .onRef('templates.faceId', '=', 'faces.faceId')
        .onRef('templates.galleryId', '=', 'faces.galleryId'),
    )
    .where('templates.modelId', '=', modelId)
  const count = sql<number>`count(*)`.as('count')
  const total = (await run(faces.select(count)))[0]?.count ?? 0
  const comparable = (await run(templates.select(count)))[0]?.count ?? 0
  return { templates: comparable, otherFaces: total - comparable }
}
