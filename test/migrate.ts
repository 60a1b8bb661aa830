import { spawn, type ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { sharedServer } from './postgres.ts'

/** From where to where. */
export type MigrationPlace = AsyncDisposable & { readonly dataDir: string; readonly url: string }

/** An empty folder and an empty database. */
export async function migrationPlace(): Promise<MigrationPlace> {
  const server = await sharedServer()
  const database = await server.freshDatabase()
  const dataDir = await mkdtemp(path.join(tmpdir(), 'facegate-migrate-'))
  return {
    dataDir,
    url: database.url,
    [Symbol.asyncDispose]: async () => {
      await database[Symbol.asyncDispose]()
      await rm(dataDir, { recursive: true, force: true })
    },
  }
}

export type Said = { readonly code: number | null; readonly out: string; readonly err: string }

/** A move that runs. */
export type Migration = {
  readonly process: ChildProcess
  /** Resolves once it has said a text on standard error, or ended. */
  readonly said: (text: string) => Promise<void>
  readonly ended: Promise<Said>
}

const main = path.join(import.meta.dirname, '../src/cli/main.ts')

/** Starts `facegate migrate`; the URL comes by the environment. */
export function startMigration(dataDir: string, url: string): Migration {
  const child = spawn(process.execPath, [main, 'migrate', '--from', dataDir], {
    env: { ...process.env, DATABASE_URL: url },
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  let out = ''
  let err = ''
  child.stdout.on('data', (chunk: Buffer) => (out += chunk.toString()))
  child.stderr.on('data', (chunk: Buffer) => (err += chunk.toString()))
  const ended = once(child, 'close').then(() => ({ code: child.exitCode, out, err }))
  return {
    process: child,
    said: async (text) => {
      while (!err.includes(text) && child.exitCode === null) await once(child.stderr, 'data')
    },
    ended,
  }
}

export function migrate(dataDir: string, url: string): Promise<Said> {
  return startMigration(dataDir, url).ended
}
