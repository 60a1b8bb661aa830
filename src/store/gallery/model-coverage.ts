import { countRows } from '../lists.ts'
import type { ReadTx } from '../database.ts'

/** Counts the faces and subjects of all galleries by their templates of `modelId`. */
export async function findModelCoverage(tx: ReadTx, modelId: string) {
  const [counts] = await tx.run(
    tx.build
      .selectFrom('faces')
      .leftJoin('templates', (join) =>
        join.onRef('templates.faceId', '=', 'faces.faceId').on('modelId', '=', modelId),
      )
      .leftJoin('crops', 'crops.faceId', 'faces.faceId')
      .select(({ fn }) => [
        fn.countAll<number>().as('all'),
        fn.count<number>('templates.faceId').as('comparable'),
        fn
          .count<number>('crops.faceId')
          .filterWhere('templates.faceId', 'is', null)
          .as('remakeable'),
      ]),
  )
  const { all = 0, comparable = 0, remakeable = 0 } = counts ?? {}
  return {
    /** Faces that have a template of the model. */
    comparableFaces: comparable,
    /** Faces without a template of the model that can be embedded again from a stored crop. */
    remakeableFaces: remakeable,
    /** Faces with neither. A new enrollment or verification of their subject adds a template. */
    waitingFaces: all - comparable - remakeable,
    /** Subjects without any template of the model. */
    notComparableSubjects: await countNotComparable(tx, modelId),
  }
}

/** Counts the subjects of all galleries without a template of the model. */
export async function countNotComparable(tx: ReadTx, modelId: string): Promise<number> {
  const comparable = tx.build
    .selectFrom('templates')
    .innerJoin('faces', 'faces.faceId', 'templates.faceId')
    .select('subjectId')
    .distinct()
    .where('modelId', '=', modelId)
  const all = await countRows(tx, tx.build.selectFrom('subjects').select('subjectId'))
  return all - (await countRows(tx, comparable))
}

/** Counts the templates of each model, by the model's id. */
export async function templateCountsByModel(tx: ReadTx): Promise<ReadonlyMap<string, number>> {
  const query = tx.build
    .selectFrom('templates')
    .select((row) => ['modelId', row.fn.countAll<number>().as('count')])
    .groupBy('modelId')
    .orderBy('modelId')
  return new Map((await tx.run(query)).map(({ modelId, count }) => [modelId, count]))
}

/** Counts the templates of an account by model. */
export function countAccountTemplates(tx: ReadTx, accountId: string) {
  const query = tx.build
    .selectFrom('templates')
    .innerJoin('faces', 'faces.faceId', 'templates.faceId')
    .innerJoin('galleries', 'galleries.galleryId', 'faces.galleryId')
    .select((row) => ['modelId', row.fn.countAll<number>().as('faces')])
    .where('accountId', '=', accountId)
    .groupBy('modelId')
  return tx.run(query)
}
