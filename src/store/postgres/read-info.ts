import type { ServerInfo, DatabaseInfo } from '../database-info.ts'
import type { ConnectionPool } from './connection/pool.ts'
import { prepare } from './connection/statement.ts'

/** A row is refreshed every five seconds; a server that is gone is not shown for longer than this. */
const serverListedMs = 30_000

const engine = prepare<{ readonly version: string; readonly bytes: number }>(
  `select 'PostgreSQL ' || current_setting('server_version')
     || coalesce((select ', pgvector ' || extversion from pg_extension where extname = 'vector'), '')
     as version,
     pg_database_size(current_database()) as bytes`,
)
const servers = prepare<ServerInfo>(
  `select host, pid, version, "startedAtUtc", "seenAtUtc" from nodes where "seenAtUtc" >= :sinceUtc
   order by "startedAtUtc", "nodeId"`,
)

export function readPostgresInfo(
  pool: ConnectionPool,
  url: string,
  nowMs: number,
): Promise<DatabaseInfo> {
  const sinceUtc = new Date(nowMs - serverListedMs).toISOString()
  return pool.withSession(async (session) => {
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
