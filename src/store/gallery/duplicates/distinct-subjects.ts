import type { DistinctSubjectsRow } from '../../gallery-schema.ts'
import type { ReadTx, Tx } from '../../database.ts'

/** Two subjects of a gallery, in any order. */
export type SubjectPair = Pick<DistinctSubjectsRow, 'galleryId' | 'subjectId' | 'otherId'>

/** Finds the pairs of a gallery that are no duplicates, the newest decision first; by default all. */
export function findDistinctSubjects({ build, run }: ReadTx, galleryId: string, limit?: number) {
  const all = build.selectFrom('distinctSubjects').selectAll().where('galleryId', '=', galleryId)
  const query = limit === undefined ? all : all.limit(limit)
  return run(query.orderBy('decidedAtUtc', 'desc').orderBy('subjectId').orderBy('otherId'))
}

/** Remembers that two subjects are different people. The first decision stays. */
export async function addDistinctSubjects({ build, run }: Tx, row: DistinctSubjectsRow) {
  const values = { ...row, ...sortedIds(row) }
  const insertion = build.insertInto('distinctSubjects').values(values)
  await run(insertion.onConflict((conflict) => conflict.doNothing()))
}

export async function removeDistinctSubjects({ build, run }: Tx, pair: SubjectPair) {
  const { subjectId, otherId } = sortedIds(pair)
  const deletion = build.deleteFrom('distinctSubjects').where('galleryId', '=', pair.galleryId)
  await run(deletion.where('subjectId', '=', subjectId).where('otherId', '=', otherId))
}

function sortedIds({ subjectId, otherId }: SubjectPair) {
  return subjectId < otherId ? { subjectId, otherId } : { subjectId: otherId, otherId: subjectId }
}
