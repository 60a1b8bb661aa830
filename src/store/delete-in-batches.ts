import type { RawBuilder } from 'kysely'
import { type Store, type Tx, dialectOf, sql } from './database.ts'

/** Rows per transaction, so that calls do not wait long. */
export const batchRows = 500

/** The bytes of their large values: SQLite overwrites what it deletes, 2 MiB in about 10 ms. */
export const batchBytes = 2 * 1024 * 1024

/** Deletes or changes rows in separate transactions until none is left. @returns the number of rows. */
export async function deleteInBatches(
  { write }: Pick<Store, 'write'>,
  changeBatch: (tx: Tx) => Promise<number>,
): Promise<number> {
  for (let total = 0; ;) {
    const count = await write(changeBatch)
    total += count
    if (count === 0) return total
  }
}

/**
 * A transaction would change too many rows of one subject. `step` changes some of them in a separate
 * transaction, and returns whether few are left.
 */
export class ManyRowsError extends Error {
  step: (tx: Tx) => Promise<boolean> = async () => true
}

/**
 * Runs a transaction. After `ManyRowsError` it is rolled back, and runs again after the steps. It then
 * changes the rows that were stored since.
 */
export async function withFewRows<T>(write: Store['write'], transact: () => Promise<T>) {
  for (;;) {
    try {
      return await transact()
    } catch (error) {
      if (!(error instanceof ManyRowsError)) throw error
      while (!(await write(error.step)));
    }
  }
}

/** The keys of tables, and their columns that can be large. */
const batchTables = {
  attempts: { key: ['projectId', 'requestId'], large: ['response', 'scrubbed'] },
  crops: { key: ['faceId'], large: ['ciphertext'] },
  livenessChallenges: { key: ['challengeId'], large: [] },
  livenessFrames: { key: ['sessionId'], large: ['frame'] },
  livenessSessions: { key: ['sessionId'], large: [] },
  matchVerdicts: { key: ['verdictId'], large: ['ciphertext'] },
  nearMissCrops: { key: ['cropId'], large: ['ciphertext'] },
  subjectMerges: { key: ['mergeId'], large: ['ciphertext'] },
  webhookDeliveries: { key: ['eventId', 'webhookId'], large: ['data'] },
} as const

/**
 * Returns the condition for the next batch of rows with a condition: `batchRows` that have at most
 * `batchBytes` together, or one larger row. Attempts that another server changes are left out. An order
 * can follow the condition.
 */
export function isInBatch(
  { build }: Tx,
  table: keyof typeof batchTables,
  condition: RawBuilder<boolean>,
): RawBuilder<boolean> {
  const { key, large } = batchTables[table]
  const columns = sql.join(key.map((name) => sql.ref(name)))
  const sizes = large.map((name) => sql`coalesce(octet_length(${sql.ref(name)}), 0)`)
  const isShared = table === 'attempts' && dialectOf(build).hasRowLocks
  const lock = sql.raw(isShared ? 'for update skip locked' : '')
  // Materialized: PostgreSQL would list further rows for each row, in place of those it has deleted.
  return sql`(${columns}) in (with listed as materialized (
      select ${columns}, ${sql.join([sql`0`, ...sizes], sql` + `)} as bytes from ${sql.table(table)}
      where ${condition} limit ${sql.lit(batchRows)} ${lock}),
    summed as (select *, sum(bytes) over (rows unbounded preceding) as total from listed)
    select ${columns} from summed where total <= ${sql.lit(batchBytes)} or total = bytes)`
}

/**
 * Deletes the rows of one batch. The subjects of a response are deleted with its attempt, which counts
 * as one row for each of them.
 *
 * @returns the number, without subjects.
 */
export async function deleteBatch(
  tx: Tx,
  table: keyof typeof batchTables,
  condition: RawBuilder<boolean>,
): Promise<number> {
  const isFirst = sql`("projectId", "requestId") in (select "projectId", "requestId" from attempts
    left join "responseSubjects" using ("projectId", "requestId")
    where ${condition} limit ${sql.lit(batchRows)})`
  const isDeleted = table === 'attempts' ? sql<boolean>`${isFirst} and ${condition}` : condition
  const query = tx.build.deleteFrom(table).where(isInBatch(tx, table, isDeleted))
  return (await tx.run(query.returning(sql<1>`1`.as('deleted')))).length
}
