import { execFileSync } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { existsSync, readdirSync } from 'node:fs'
import path from 'node:path'
import { Client } from 'pg'
import { startPostmaster, type Postmaster } from './postmaster.ts'

/** A PostgreSQL server with pgvector. */
export type PostgresServer = {
  /** The URL of the superuser, for operations that the service must never perform. */
  readonly adminUrl: string
  /** Creates a database whose owner is subject to row-level security. */
  readonly createDatabase: (options?: {
    readonly template?: string
    readonly encoding?: string
  }) => Promise<TestDatabase>
}

export type TestDatabase = AsyncDisposable & { readonly url: string; readonly name: string }

/** A separate server that a test may kill and restart. */
export type PostgresCluster = AsyncDisposable & PostgresServer & Postmaster

/** The URL of a running server: the one that `npm test` started, or the developer's. */
const runningUrl = process.env['TEST_POSTGRES_URL'] ?? ''

/** The service's role. It is no superuser, because row-level security does not apply to those. */
const ownerRole = 'facegate'

const binaries = findBinaries()

/** The reason why no separate server can be started on this machine; undefined: it can. */
export const clusterSkipReason: string | undefined = binaries
  ? undefined
  : 'PostgreSQL with pgvector is not installed here: .ci/postgres installs both'

/** The reason why there is no server at all; undefined: there is one. */
export const postgresSkipReason: string | undefined = runningUrl ? undefined : clusterSkipReason

/** Returns the server of this test run. If `npm test` did not start one, the first caller does. */
export function sharedPostgresServer(): Promise<PostgresServer> {
  sharedServerPromise ??= runningUrl
    ? Promise.resolve(postgresServerAt(runningUrl))
    : startPostgresCluster()
  return sharedServerPromise
}

let sharedServerPromise: Promise<PostgresServer> | undefined

/**
 * Starts a temporary server on a free port. It ends with this process at the latest.
 *
 * @param options.isDurable whether commits wait for the disk, as in production. Only a test that kills
 *   the server needs it.
 */
export async function startPostgresCluster({
  isDurable = true,
}: { readonly isDurable?: boolean } = {}): Promise<PostgresCluster> {
  if (!binaries) throw new Error(clusterSkipReason)
  const durability = isDurable ? 'on' : 'off'
  const postmaster = await startPostmaster(binaries, {
    fsync: durability,
    full_page_writes: durability,
  })
  await runSql(
    urlWithDatabase(postmaster.adminUrl, 'template1'),
    `create role ${ownerRole} login; create extension if not exists vector`,
  )
  return {
    ...postmaster,
    ...postgresServerAt(postmaster.adminUrl),
    [Symbol.asyncDispose]: () => postmaster.stop(),
  }
}

function postgresServerAt(adminUrl: string): PostgresServer {
  return {
    adminUrl,
    createDatabase: async ({ template = 'template1', encoding } = {}) => {
      const name = `facegate_${randomBytes(8).toString('hex')}`
      // A copy of the files takes half the processor time of a copy through the write-ahead log.
      const copied = `template ${template} strategy file_copy`
      const locale = encoding ? `encoding '${encoding}' locale 'C'` : ''
      await runSql(adminUrl, `create database ${name} owner ${ownerRole} ${copied} ${locale}`)
      const url = new URL(urlWithDatabase(adminUrl, name))
      url.username = ownerRole
      return {
        url: url.href,
        name,
        [Symbol.asyncDispose]: () =>
          runSql(adminUrl, `drop database if exists ${name} with (force)`),
      }
    },
  }
}

/** Runs statements on a new connection. */
export async function runSql(url: string, text: string): Promise<void> {
  const client = new Client({ connectionString: url })
  await client.connect()
  try {
    await client.query(text)
  } finally {
    await client.end()
  }
}

export function urlWithDatabase(url: string, name: string): string {
  const result = new URL(url)
  result.pathname = `/${name}`
  return result.href
}

/** Returns the folder of initdb and postgres of the newest version with pgvector. */
function findBinaries(): string | undefined {
  const debian = '/usr/lib/postgresql'
  const versions = existsSync(debian) ? readdirSync(debian).toSorted().reverse() : []
  const folders = [
    ...versions.map((version) => path.join(debian, version, 'bin')),
    ...(process.env['PATH'] ?? '').split(path.delimiter),
  ]
  return folders.find((folder) => existsSync(path.join(folder, 'initdb')) && hasPgvector(folder))
}

function hasPgvector(folder: string): boolean {
  const pgConfig = path.join(folder, 'pg_config')
  if (!existsSync(pgConfig)) return false
  const share = execFileSync(pgConfig, ['--sharedir'], { encoding: 'utf8' }).trim()
  return existsSync(path.join(share, 'extension', 'vector.control'))
}
