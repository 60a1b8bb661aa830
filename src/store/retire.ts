import type { Store } from './database.ts'
import type { Reading } from './tx.ts'

export type Retirement = {
  /** The model whose templates are not needed any more. */
  readonly modelId: string
  /** The model that every face is to have a template of. */
  readonly activeModelId: string
  readonly onProgress?: (done: number, total: number) => void
}

/** Templates that one transaction deletes: calls wait no longer than for a busy neighbour. */
const templatesAtATime = 500

/**
 * Deletes the templates of a model from all faces that have one of the active model as well. A face
 * that has no other stays as it is.
 *
 * Safe beside a running server, which compares by the active model, and to be run again after it was
 * cut off.
 *
 * @returns how many were deleted.
 */
export async function retireTemplates(store: Store, retirement: Retirement): Promise<number> {
  const { modelId, activeModelId, onProgress } = retirement
  const total = await store.read((reading) => countTemplates(reading, modelId))
  let count = 0
  for (let some = templatesAtATime; some === templatesAtATime; onProgress?.(count, total)) {
    some = await store.write((tx) => {
      const both = withBoth(tx, modelId, activeModelId).limit(templatesAtATime)
      const faceIds = tx.run(both).map(({ faceId }) => faceId)
      if (faceIds.length === 0) return 0
      const old = tx.build.deleteFrom('templates').where('modelId', '=', modelId)
      tx.run(old.where('faceId', 'in', faceIds))
      return faceIds.length
    })
    count += some
  }
  await store.checkpoint()
  return count
}

/** Faces that have a template of a model and none of the active one: without it they are lost. */
export function countDependent(
  reading: Reading,
  { modelId, activeModelId }: Pick<Retirement, 'modelId' | 'activeModelId'>,
): number {
  const both = withBoth(reading, modelId, activeModelId).clearSelect()
  const [row] = reading.run(both.select((of) => of.fn.countAll<number>().as('count')))
  return countTemplates(reading, modelId) - (row?.count ?? 0)
}

/** Templates that there are of a model. */
export function countTemplates(reading: Reading, modelId: string): number {
  const query = reading.build
    .selectFrom('templates')
    .select((row) => row.fn.countAll<number>().as('count'))
    .where('modelId', '=', modelId)
  return reading.run(query)[0]?.count ?? 0
}

/** Faces that have templates of both models. */
function withBoth(reading: Reading, modelId: string, activeModelId: string) {
  return reading.build
    .selectFrom('templates as old')
    .innerJoin('templates as active', (join) =>
      join.onRef('active.faceId', '=', 'old.faceId').on('active.modelId', '=', activeModelId),
    )
    .select('old.faceId')
    .where('old.modelId', '=', modelId)
}
