import type { Selectable } from 'kysely'
import type { ProjectRow } from '../schema.ts'
import type { ReadTx } from '../database.ts'

/** The rate limit of a project and the state of its token bucket. */
export type BucketState = Pick<Selectable<ProjectRow>, 'sustainedPerS' | 'burst'> & {
  /** The time at which the bucket is full again, by the steady clock. */
  readonly fullAtUs: number
}

/** Reads the bucket of a project without locking it. */
export async function readBucketState(tx: ReadTx, projectId: string) {
  const query = tx.build
    .selectFrom('projects')
    .innerJoin('buckets', 'buckets.projectId', 'projects.projectId')
    .select(['sustainedPerS', 'burst', 'fullAtUs'])
    .where('projects.projectId', '=', projectId)
  return (await tx.run(query))[0]
}
