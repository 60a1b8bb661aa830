import type { Insertable, Selectable } from 'kysely'
import { type ReadTx, type Tx, sql } from '../database.ts'
import type { Database } from '../schema.ts'
import type { SystemSampleRow, SystemServerRow } from '../system-schema.ts'

/** Samples and servers without a report are deleted after this time. */
export const systemHistoryMs = 86_400_000

/** Adds a server that starts, or one that starts again. */
export async function startServer(tx: Tx, server: Insertable<SystemServerRow>): Promise<void> {
  const { pid, version, startedAtMs, reportedAtMs, report } = server
  const insert = tx.build.insertInto('systemServers').values(server)
  await tx.run(
    insert.onConflict((conflict) =>
      conflict.column('server').doUpdateSet((row) => ({
        pid,
        version,
        startedAtMs,
        reportedAtMs,
        report,
        stoppedAtMs: null,
        starts: row('systemServers.starts', '+', 1),
      })),
    ),
  )
}

type StoredReport = Pick<SystemServerRow, 'server' | 'pid' | 'reportedAtMs' | 'report'>

/** Replaces the report of a running server. */
export async function storeReport(tx: Tx, { server, pid, reportedAtMs, report }: StoredReport) {
  const query = tx.build.updateTable('systemServers').set({ reportedAtMs, report })
  await tx.run(query.where('server', '=', server).where('pid', '=', pid))
}

/** Records that a server has shut down. */
export async function stopServer(
  tx: Tx,
  { server, pid, stoppedAtMs }: Pick<SystemServerRow, 'server' | 'pid' | 'stoppedAtMs'>,
): Promise<void> {
  const query = tx.build.updateTable('systemServers').set({ stoppedAtMs })
  await tx.run(query.where('server', '=', server).where('pid', '=', pid))
}

export async function addSample(tx: Tx, sample: SystemSampleRow): Promise<void> {
  const insert = tx.build.insertInto('systemSamples').values(sample)
  await tx.run(insert.onConflict((conflict) => conflict.doNothing()))
}

/** Deletes samples, and servers whose last report is older than a time. */
export async function deleteOldHistory(tx: Tx, beforeMs: number): Promise<void> {
  await tx.run(tx.build.deleteFrom('systemSamples').where('atMs', '<', beforeMs))
  await tx.run(tx.build.deleteFrom('systemServers').where('reportedAtMs', '<', beforeMs))
}

/** Lists the servers of the last 24 hours by name. */
export function listServers(tx: ReadTx): Promise<readonly Selectable<SystemServerRow>[]> {
  return tx.run(tx.build.selectFrom('systemServers').selectAll().orderBy('server'))
}

/** Lists the samples since a time, by server and time. */
export function listSamples(tx: ReadTx, sinceMs: number): Promise<readonly SystemSampleRow[]> {
  const query = tx.build.selectFrom('systemSamples').selectAll().where('atMs', '>=', sinceMs)
  return tx.run(query.orderBy('server').orderBy('atMs'))
}

/** Lists the calibrations of all galleries, in use or ended, without the users that applied them. */
export function listCalibrationStates(tx: ReadTx) {
  const query = tx.build
    .selectFrom('galleryCalibrations')
    .select(['calibrationId', 'galleryId', 'modelId', 'subjects', 'appliedAtUtc', 'endedAtUtc'])
  return tx.run(query.orderBy('appliedAtUtc').orderBy('calibrationId'))
}

/** Lists the applied migrations in their order. */
export async function listMigrations(db: Database) {
  const { rows } = await sql<{ readonly name: string; readonly timestamp: string }>`
    select name, timestamp from kysely_migration order by name`.execute(db)
  return rows
}

const countedTables = [
  'accounts',
  'projects',
  'keys',
  'users',
  'galleries',
  'subjects',
  'faces',
  'templates',
  'crops',
  'deletions',
  'auditLog',
  'webhooks',
  'webhookDeliveries',
  'galleryCalibrations',
] as const

/** Counts the rows of the main tables, but not of the request log, in the scope of the transaction. */
export async function countRows(tx: ReadTx) {
  const counts: Partial<Record<(typeof countedTables)[number], number>> = {}
  for (const table of countedTables) {
    const query = tx.build.selectFrom(table).select((row) => row.fn.countAll<number>().as('rows'))
    counts[table] = (await tx.run(query))[0]?.rows ?? 0
  }
  // Every table was counted.
  return counts as Readonly<Record<(typeof countedTables)[number], number>>
}
