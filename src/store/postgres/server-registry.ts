import { setTimeout as sleep } from 'node:timers/promises'
import { Client } from 'pg'
import type { Log } from '../../lib/log.ts'

/** This server's registration among the running servers of the database. */
export type ServerRegistration = {
  /** Whether no other server was running: attempts that are still open then have no owner. */
  readonly isFirstServer: boolean
  readonly unregister: () => Promise<void>
}

const reconnectDelayMs = 1000

/**
 * Registers this server: it holds a shared lock on a separate connection, as all other servers do.
 * The lock ends with the process, even after a crash. A server that can take the lock exclusively is
 * the first one.
 */
export async function registerServer(
  url: string,
  log?: Pick<Log, 'warn'>,
): Promise<ServerRegistration> {
  const unregistering = new AbortController()
  let client = await connect(url)
  const { rows } = await client.query<{ isFirst: boolean }>(
    `select pg_try_advisory_lock(${serversLockKey}) as "isFirst"`,
  )
  const isFirstServer = rows[0]?.isFirst ?? false
  await client.query(`select pg_advisory_lock_shared(${serversLockKey})`)
  if (isFirstServer) await client.query(`select pg_advisory_unlock(${serversLockKey})`)
  reconnectAfterEnd(client)
  return {
    isFirstServer,
    unregister: async () => {
      unregistering.abort()
      await client.end().catch(() => undefined)
    },
  }

  /** When a connection ends, its lock is released: a new connection takes the lock again. */
  function reconnectAfterEnd(current: Client): void {
    current.once('end', () => {
      if (!unregistering.signal.aborted) void reconnect()
    })
  }

  async function reconnect(): Promise<void> {
    while (!unregistering.signal.aborted) {
      await sleep(reconnectDelayMs, undefined, { ref: false })
      try {
        client = await connect(url)
        await client.query(`select pg_advisory_lock_shared(${serversLockKey})`)
        return reconnectAfterEnd(client)
      } catch (error) {
        log?.warn({ err: error }, 'registering this server failed; it is retried')
      }
    }
  }
}

async function connect(url: string): Promise<Client> {
  const client = new Client({
    connectionString: url,
    fallback_application_name: 'facegate presence',
    keepAlive: true,
  })
  // A connection error is followed by the `end` event, which is handled.
  client.on('error', () => undefined)
  await client.connect()
  return client
}

const serversLockKey = `hashtextextended('servers', 0)`
