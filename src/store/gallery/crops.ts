import { lockProjectGallery } from './galleries.ts'
import type { CropRow } from '../schema.ts'
import type { Store } from '../database.ts'
import { findFaceTemplates } from './templates.ts'
import type { ReadTx, Tx } from '../tx.ts'

export async function addCrop(tx: Tx, crop: CropRow): Promise<void> {
  await tx.run(tx.build.insertInto('crops').values(crop))
}

/** The stored crop of a face. */
export async function findCrop(reading: ReadTx, faceId: string): Promise<CropRow | undefined> {
  const query = reading.build.selectFrom('crops').selectAll().where('faceId', '=', faceId)
  return (await reading.run(query))[0]
}

export type MissingTemplateFilter = {
  readonly modelId: string
  /** The face that the page before ended with; '' for the first. */
  readonly afterFaceId: string
  readonly limit: number
}

/** Faces without a template of the model that have a stored crop, in the order of their ids. */
export async function findFacesToReEmbed(
  reading: ReadTx,
  { modelId, afterFaceId, limit }: MissingTemplateFilter,
): Promise<readonly string[]> {
  const query = reading.build
    .selectFrom('crops')
    .select('faceId')
    .where('faceId', '>', afterFaceId)
    .where((row) =>
      row.not(
        row.exists(
          row
            .selectFrom('templates')
            .select('templates.faceId')
            .whereRef('templates.faceId', '=', 'crops.faceId')
            .where('modelId', '=', modelId),
        ),
      ),
    )
    .orderBy('faceId')
    .limit(limit)
  return (await reading.run(query)).map(({ faceId }) => faceId)
}

/** A crop with the templates of its face: what the face can be described anew by. */
export async function findReEmbedSource(reading: ReadTx, faceId: string) {
  const crop = await findCrop(reading, faceId)
  const templates = await findFaceTemplates(reading, [faceId])
  return crop && { crop, templates }
}

/** Crops that one transaction deletes: calls wait no longer than for a busy neighbour. */
const cropBatchRows = 500

/** Deletes all crops that a project had stored. @returns how many. */
export async function removeCrops(store: Store, projectId: string): Promise<number> {
  let count = 0
  for (let some = cropBatchRows; some === cropBatchRows; count += some)
    some = await store.write(async (tx) => {
      await lockProjectGallery(tx, projectId) // An enrolment that read the switch before is through then.
      const query = tx.build
        .selectFrom('crops')
        .select('faceId')
        .where('projectId', '=', projectId)
        .limit(cropBatchRows)
      const faceIds = (await tx.run(query)).map(({ faceId }) => faceId)
      if (faceIds.length > 0)
        await tx.run(tx.build.deleteFrom('crops').where('faceId', 'in', faceIds))
      return faceIds.length
    })
  await store.checkpoint()
  return count
}
