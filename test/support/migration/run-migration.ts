import assert from 'node:assert/strict'
import { cp, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { Client } from 'pg'
import { sharedPostgresServer, type TestDatabase } from '../database/postgres-server.ts'
import { startCli, type CliProcess, type CliResult } from '../cli/run-cli.ts'

/** The source folder and the target database of a migration. */
export type MigrationSetup = AsyncDisposable & { readonly dataDir: string; readonly url: string }

/** Copies a data folder for a migration. The target is an empty database by default. */
export async function createMigrationSetup(
  original: string,
  database?: TestDatabase,
): Promise<MigrationSetup> {
  const target = database ?? (await (await sharedPostgresServer()).createDatabase())
  const dataDir = await mkdtemp(path.join(tmpdir(), 'facegate-migrate-'))
  await cp(original, dataDir, { recursive: true })
  return {
    dataDir,
    url: target.url,
    [Symbol.asyncDispose]: async () => {
      await target[Symbol.asyncDispose]()
      await rm(dataDir, { recursive: true, force: true })
    },
  }
}

/** Runs statements in the scope of all accounts. */
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

/** Takes a lock and holds it until it is disposed. */
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

/** Kills a migration that waits for a lock as soon as it has made this progress. */
export async function killWhen(
  { process: child, result }: CliProcess,
  hasProgressed: () => Promise<boolean>,
): Promise<void> {
  await waitUntil(hasProgressed)
  assert.equal(child.exitCode, null, 'the migration waits for the lock')
  child.kill('SIGKILL')
  await result
}

const waitMsMax = 60_000

/** Waits until a condition is true. An error of the condition counts as false. */
export async function waitUntil(condition: () => Promise<boolean>): Promise<void> {
  const endMs = Date.now() + waitMsMax
  for (; !(await condition().catch(() => false)); await sleep(50))
    assert.ok(Date.now() < endMs, 'the condition did not become true in time')
}

/** Configures a server to require passwords of all roles except its superuser. */
export async function requirePasswords(adminUrl: string): Promise<void> {
  await queryAllAccounts(adminUrl, `alter role facegate password 'right'`)
  const [setting] = await queryAllAccounts(adminUrl, 'show hba_file')
  const rules = ['host all postgres 127.0.0.1/32 trust', 'host all all 127.0.0.1/32 scram-sha-256']
  await writeFile(String(setting?.['hba_file']), `${rules.join('\n')}\n`)
  await queryAllAccounts(adminUrl, 'select pg_reload_conf()')
}
