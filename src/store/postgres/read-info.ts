import type { DatabaseInfo, ServerInfo } from '../database.ts'
import type { ConnectionPool } from './connection/pool.ts'
import { prepare } from './connection/statement.ts'

/** A server updates its row every five seconds; it is listed for this long after the last update. */
const serverListedMs = 30_000

const selectEngine = prepare<{ readonly version: string; readonly bytes: number }>(
  `select 'PostgreSQL ' || current_setting('server_version')
     || coalesce((select ', pgvector ' || extversion from pg_extension where extname = 'vector'), '')
     as version,
     pg_database_size(current_database()) as bytes`,
)
const selectServers = prepare<ServerInfo>(
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
    const engine = await selectEngine.first(session, {})
    const { host, pathname } = new URL(url)
    return {
      kind: 'postgres',
      place: `${host}${decodeURIComponent(pathname)}`,
      version: engine?.version ?? 'PostgreSQL',
      bytes: engine?.bytes ?? 0,
      servers: await selectServers.all(session, { sinceUtc }),
    }
  })
}
