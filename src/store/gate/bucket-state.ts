import type { ReadTx } from '../database.ts'

/**
 * Reads the rate limit of a project and the state of its token bucket, without locking them.
 * `fullAtUs` is the time at which the bucket is full again, by the steady clock.
 */
export async function readBucketState(tx: ReadTx, projectId: string) {
  const query = tx.build
    .selectFrom('projects')
    .innerJoin('buckets', 'buckets.projectId', 'projects.projectId')
    .select(['sustainedPerS', 'burst', 'fullAtUs'])
    .where('projects.projectId', '=', projectId)
  return (await tx.run(query))[0]
}
