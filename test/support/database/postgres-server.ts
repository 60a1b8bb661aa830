import { execFileSync } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { existsSync, readdirSync } from 'node:fs'
import path from 'node:path'
import { Client } from 'pg'
import { startPostmaster, type Postmaster } from './postmaster.ts'

/** A server of PostgreSQL with pgvector. */
export type PostgresServer = {
  /** Of the superuser, for what the service itself must never do. */
  readonly adminUrl: string
  /** A database of its own, owned by a role that row-level security holds for. */
  readonly createDatabase: (of?: { readonly template?: string }) => Promise<TestDatabase>
}

export type TestDatabase = AsyncDisposable & { readonly url: string; readonly name: string }

/** A server of one's own, to be mishandled. */
export type PostgresCluster = AsyncDisposable & PostgresServer & Postmaster

/** Where a server runs already: that of `npm test`, or one's own. */
const runningUrl = process.env['TEST_POSTGRES_URL'] ?? ''

/** The role of the service: no superuser, which no row-level security would hold for. */
const ownerRole = 'facegate'

const binaries = findBinaries()

/** Why there can be no server of one's own here; undefined when there can. */
export const clusterSkipReason: string | undefined = binaries
  ? undefined
  : 'PostgreSQL with pgvector is not installed here: .ci/postgres installs both'

/** Why there can be no server at all. */
export const postgresSkipReason: string | undefined = runningUrl ? undefined : clusterSkipReason

/** The server of this test run; its first user starts it where `npm test` has not. */
export function sharedPostgresServer(): Promise<PostgresServer> {
  sharedServerPromise ??= runningUrl
    ? Promise.resolve(postgresServerAt(runningUrl))
    : startPostgresCluster()
  return sharedServerPromise
}

let sharedServerPromise: Promise<PostgresServer> | undefined

/** Starts a throwaway server on a free port. It ends with this process at the latest. */
export async function startPostgresCluster(): Promise<PostgresCluster> {
  if (!binaries) throw new Error(clusterSkipReason)
  const postmaster = await startPostmaster(binaries)
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
    createDatabase: async ({ template = 'template1' } = {}) => {
      const name = `facegate_${randomBytes(8).toString('hex')}`
      await runSql(adminUrl, `create database ${name} owner ${ownerRole} template ${template}`)
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

/** Runs statements on a connection of their own. */
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
  const other = new URL(url)
  other.pathname = `/${name}`
  return other.href
}

/** The folder of initdb and postgres, of the newest version that has pgvector. */
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
  const ask = path.join(folder, 'pg_config')
  if (!existsSync(ask)) return false
  const share = execFileSync(ask, ['--sharedir'], { encoding: 'utf8' }).trim()
  return existsSync(path.join(share, 'extension', 'vector.control'))
}
