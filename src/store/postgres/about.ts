import type { ServerFacts, StoreFacts } from '../about.ts'
import type { Pool } from './pool.ts'
import { prepare } from './statement.ts'

/** A row is refreshed every five seconds; a server that is gone is not shown for longer than this. */
const shownMs = 30_000

const engine = prepare<{ readonly version: string; readonly bytes: number }>(
  `select 'PostgreSQL ' || current_setting('server_version')
     || coalesce((select ', pgvector ' || extversion from pg_extension where extname = 'vector'), '')
     as version,
     pg_database_size(current_database()) as bytes`,
)
const servers = prepare<ServerFacts>(
  `select host, pid, version, "startedAtUtc", "seenAtUtc" from nodes where "seenAtUtc" >= :sinceUtc
   order by "startedAtUtc", "nodeId"`,
)

export function aboutPostgres(pool: Pool, url: string, nowMs: number): Promise<StoreFacts> {
  const sinceUtc = new Date(nowMs - shownMs).toISOString()
  return pool.lend(async (session) => {
    const found = await engine.first(session, {})
    const { host, pathname } = new URL(url)
    return {
      kind: 'postgres',
      place: `${host}${decodeURIComponent(pathname)}`,
      version: found?.version ?? 'PostgreSQL',
      bytes: found?.bytes ?? 0,
      servers: await servers.all(session, { sinceUtc }),
    }
  })
}
