import { setTimeout as sleep } from 'node:timers/promises'
import { Client } from 'pg'
import type { Log } from '../../lib/log.ts'

/** This server among those that are at work on the database. */
export type ServerRegistration = {
  /** Whether nobody else was there when it came: whatever was begun before is nobody's. */
  readonly isFirstServer: boolean
  readonly unregister: () => Promise<void>
}

const reconnectDelayMs = 1000

/**
 * Holds a lock together with all other servers, on a connection of its own. It ends with the process,
 * however that dies: who comes next and can hold it alone is the first.
 */
export async function registerServer(
  url: string,
  log?: Pick<Log, 'warn'>,
): Promise<ServerRegistration> {
  const leaving = new AbortController()
  let client = await connect()
  const { rows } = await client.query<{ isFirst: boolean }>(
    `select pg_try_advisory_lock(${serversLockKey}) as "isFirst"`,
  )
  const isFirst = rows[0]?.isFirst ?? false
  await client.query(`select pg_advisory_lock_shared(${serversLockKey})`)
  if (isFirst) await client.query(`select pg_advisory_unlock(${serversLockKey})`)
  watch(client)
  return {
    isFirstServer: isFirst,
    unregister: async () => {
      leaving.abort()
      await client.end().catch(() => undefined)
    },
  }

  async function connect(): Promise<Client> {
    const fresh = new Client({
      connectionString: url,
      fallback_application_name: 'facegate presence',
      keepAlive: true,
    })
    // What it ends with is told by its end.
    fresh.on('error', () => undefined)
    await fresh.connect()
    return fresh
  }

  /** A connection that ended takes its lock along: another one takes it again. */
  function watch(watched: Client): void {
    watched.once('end', () => {
      if (!leaving.signal.aborted) void comeBack()
    })
  }

  async function comeBack(): Promise<void> {
    while (!leaving.signal.aborted) {
      await sleep(reconnectDelayMs, undefined, { ref: false })
      try {
        client = await connect()
        await client.query(`select pg_advisory_lock_shared(${serversLockKey})`)
        return watch(client)
      } catch (error) {
        log?.warn({ err: error }, 'this server cannot be announced to the others yet')
      }
    }
  }
}

const serversLockKey = `hashtextextended('servers', 0)`
