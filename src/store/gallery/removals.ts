import { type ReadTx, type RemovalWatermark, type Tx, sql } from '../database.ts'

/**
 * Finds the galleries with records of removed faces. It reads two index entries per gallery, however
 * many records there are.
 */
export async function findRemovalWatermarks({
  build,
  run,
}: ReadTx): Promise<readonly RemovalWatermark[]> {
  const next = sql<string | null>`(select min(r."galleryId") from removals r
    where r."galleryId" > affected."galleryId")`
  const last = sql<number>`(select max(r.sequence) from removals r
    where r."galleryId" = affected."galleryId")`
  const query = build
    .withRecursive('affected', (cte) =>
      cte
        .selectFrom('removals')
        .select((row) => row.fn.min<string | null>('galleryId').as('galleryId'))
        .unionAll((more) =>
          more
            .selectFrom('affected')
            .select(next.as('galleryId'))
            .where('affected.galleryId', 'is not', null),
        ),
    )
    .selectFrom('affected')
    .select(['affected.galleryId', last.as('sequence')])
    .where('affected.galleryId', 'is not', null)
    .$narrowType<{ galleryId: string }>()
  return run(query)
}

/** The maximum number of records that one transaction deletes, so that no call waits long for it. */
const recordsMax = 1000

/** Deletes the oldest records up to this change. More may be left. */
export async function deleteRemovals(
  { build, run }: Tx,
  { galleryId, sequence }: RemovalWatermark,
): Promise<void> {
  const oldest = sql`(select r.sequence, r."subjectId" from removals r
    where r."galleryId" = ${galleryId} and r.sequence <= ${sequence}
    order by r.sequence, r."subjectId" limit ${recordsMax})`
  await run(
    build
      .deleteFrom('removals')
      .where('galleryId', '=', galleryId)
      .where(sql<boolean>`(sequence, "subjectId") in ${oldest}`),
  )
}
