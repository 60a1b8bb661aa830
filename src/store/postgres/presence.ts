import { setTimeout as sleep } from 'node:timers/promises'
import { Client } from 'pg'
import type { Log } from '../../lib/log.ts'

/** This server among those that are at work on the database. */
export type Presence = {
  /** Whether nobody else was there when it came: whatever was begun before is nobody's. */
  readonly isFirst: boolean
  readonly leave: () => Promise<void>
}

const againMs = 1000

/**
 * Holds a lock together with all other servers, on a connection of its own. It ends with the process,
 * however that dies: who comes next and can hold it alone is the first.
 */
export async function announce(url: string, log?: Pick<Log, 'warn'>): Promise<Presence> {
  const leaving = new AbortController()
  let client = await connect()
  const { rows } = await client.query<{ isFirst: boolean }>(
    `select pg_try_advisory_lock(${name}) as "isFirst"`,
  )
  const isFirst = rows[0]?.isFirst ?? false
  await client.query(`select pg_advisory_lock_shared(${name})`)
  if (isFirst) await client.query(`select pg_advisory_unlock(${name})`)
  watch(client)
  return {
    isFirst,
    leave: async () => {
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
      await sleep(againMs, undefined, { ref: false })
      try {
        client = await connect()
        await client.query(`select pg_advisory_lock_shared(${name})`)
        return watch(client)
      } catch (error) {
        log?.warn({ err: error }, 'this server cannot be announced to the others yet')
      }
    }
  }
}

const name = `hashtextextended('servers', 0)`
