import type { ReadTx } from '../tx.ts'

/** How far the galleries have come to the templates of a model. */
export type ModelCoverage = {
  /** Faces that have a template of the model. */
  readonly comparableFaces: number
  /** Faces that have none, but a stored crop to make it of. */
  readonly remakeableFaces: number
  /** Faces that have neither: they wait for an enrolment or a verification of their subject. */
  readonly waitingFaces: number
  /** Subjects none of whose faces has a template of the model. */
  readonly notComparableSubjects: number
}

/** Counts faces of all galleries by whether they have a template of `modelId`. */
export async function findModelCoverage(reading: ReadTx, modelId: string): Promise<ModelCoverage> {
  const [counted] = await reading.run(
    reading.build
      .selectFrom('faces')
      .leftJoin('templates', (join) =>
        join.onRef('templates.faceId', '=', 'faces.faceId').on('modelId', '=', modelId),
      )
      .leftJoin('crops', 'crops.faceId', 'faces.faceId')
      .select((row) => [
        row.fn.countAll<number>().as('all'),
        row.fn.count<number>('templates.faceId').as('made'),
        row.fn
          .count<number>(
            row.case().when('templates.faceId', 'is', null).then(row.ref('crops.faceId')).end(),
          )
          .as('remakeable'),
      ]),
  )
  const { all = 0, made = 0, remakeable = 0 } = counted ?? {}
  return {
    comparableFaces: made,
    remakeableFaces: remakeable,
    waitingFaces: all - made - remakeable,
    notComparableSubjects: await countNotComparable(reading, modelId),
  }
}

/** Subjects of all galleries that have no template of `modelId` yet: nobody finds them by it. */
export async function countNotComparable(reading: ReadTx, modelId: string): Promise<number> {
  const all = reading.build
    .selectFrom('subjects')
    .select((row) => row.fn.countAll<number>().as('count'))
  const known = reading.build
    .selectFrom('templates')
    .innerJoin('faces', 'faces.faceId', 'templates.faceId')
    .select((row) => row.fn.count<number>('subjectId').distinct().as('count'))
    .where('modelId', '=', modelId)
  return ((await reading.run(all))[0]?.count ?? 0) - ((await reading.run(known))[0]?.count ?? 0)
}

/** Templates of each model, by the model's id. */
export async function templateCountsByModel(reading: ReadTx): Promise<ReadonlyMap<string, number>> {
  const query = reading.build
    .selectFrom('templates')
    .select((row) => ['modelId', row.fn.countAll<number>().as('count')])
    .groupBy('modelId')
    .orderBy('modelId')
  return new Map((await reading.run(query)).map(({ modelId, count }) => [modelId, count]))
}
