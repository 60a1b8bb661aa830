import type { ClientBase } from 'pg'

/**
 * Sets the statement timeout of a new connection if its session belongs to this client alone.
 *
 * A pooler in transaction mode, such as PgBouncer, gives each transaction any session of the database.
 * Settings, locks and prepared statements of a session would then reach other clients. Poolers send
 * their own process id at the start of a connection, so the database returns a different one.
 *
 * @returns whether the session belongs to this client.
 */
export async function claimSession(
  client: ClientBase,
  statementTimeoutMs: number,
): Promise<boolean> {
  // The driver's types omit the process id.
  const pid = 'processID' in client ? Number(client.processID) : 0
  const { rowCount } = await client.query(
    `select set_config('statement_timeout', '${statementTimeoutMs}', false)
     where pg_backend_pid() = ${pid}`,
  )
  return rowCount === 1
}
