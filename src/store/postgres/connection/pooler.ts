import type { Log } from '../../../lib/log.ts'
import type { ConnectionPool } from './pool.ts'

/** @throws Error if a pooler permits no transactions of several statements (statement mode). */
export async function requireTransactions(
  pool: ConnectionPool,
  log: Pick<Log, 'warn'> | undefined,
): Promise<void> {
  const isDirect = await pool.withSession(({ isDirect: isOwn }) => Promise.resolve(isOwn))
  if (isDirect) return
  log?.warn('the database connections go through a pooler; statements are not prepared there')
  try {
    await pool.withSession(({ run }) =>
      run({ text: 'begin' }).then(() => run({ text: 'rollback' })),
    )
  } catch (cause) {
    throw new Error(
      'the pooler of DATABASE_URL permits no transactions: set its pool_mode to transaction, or ' +
        'connect to PostgreSQL directly',
      { cause },
    )
  }
}

/** @throws Error if the connection goes through a pooler. */
export function requireDirect({ isDirect }: { readonly isDirect: boolean }, feature: string): void {
  if (isDirect) return
  throw new Error(
    `${feature} needs a session for its locks and settings, and a pooler such as PgBouncer provides ` +
      'none: let DATABASE_URL name PostgreSQL itself, or set SEARCH=memory',
  )
}
