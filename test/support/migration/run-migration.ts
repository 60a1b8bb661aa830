import { cp, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { Client } from 'pg'
import { sharedPostgresServer, type TestDatabase } from '../database/postgres-server.ts'
import { startCli, type CliProcess, type CliResult } from '../cli/run-cli.ts'

/** From where to where. */
export type MigrationSetup = AsyncDisposable & { readonly dataDir: string; readonly url: string }

/** A copy of a data folder, and a database, which is empty where none is given. */
export async function createMigrationSetup(
  original: string,
  database?: TestDatabase,
): Promise<MigrationSetup> {
  const to = database ?? (await (await sharedPostgresServer()).createDatabase())
  const dataDir = await mkdtemp(path.join(tmpdir(), 'facegate-migrate-'))
  await cp(original, dataDir, { recursive: true })
  return {
    dataDir,
    url: to.url,
    [Symbol.asyncDispose]: async () => {
      await to[Symbol.asyncDispose]()
      await rm(dataDir, { recursive: true, force: true })
    },
  }
}

/** Runs statements as somebody who may see all accounts. */
export async function queryAllAccounts(
  url: string,
  text: string,
): Promise<readonly Record<string, unknown>[]> {
  const client = await connect(url)
  try {
    return (await client.query(text)).rows
  } finally {
    await client.end()
  }
}

/** Holds a lock until it is disposed of. */
export async function holdLock(url: string, lock: string): Promise<AsyncDisposable> {
  const client = await connect(url)
  await client.query('begin')
  await client.query(lock)
  return { [Symbol.asyncDispose]: () => client.end().catch(() => undefined) }
}

async function connect(url: string): Promise<Client> {
  const client = new Client({ connectionString: url, options: '-c facegate.account=*' })
  client.on('error', () => undefined)
  await client.connect()
  return client
}

/** Starts `facegate migrate`. The URL is passed by the environment. */
export function startMigration(dataDir: string, url: string): CliProcess {
  return startCli(['migrate', '--from', dataDir], { DATABASE_URL: url })
}

export function runMigration(dataDir: string, url: string): Promise<CliResult> {
  return startMigration(dataDir, url).result
}

/** From now on a server lets nobody but its superuser in without a password. */
export async function requirePasswords(adminUrl: string): Promise<void> {
  await queryAllAccounts(adminUrl, `alter role facegate password 'right'`)
  const [shown] = await queryAllAccounts(adminUrl, 'show hba_file')
  const rules = ['host all postgres 127.0.0.1/32 trust', 'host all all 127.0.0.1/32 scram-sha-256']
  await writeFile(String(shown?.['hba_file']), `${rules.join('\n')}\n`)
  await queryAllAccounts(adminUrl, 'select pg_reload_conf()')
}
