import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { Kysely } from 'kysely'
import { verifyBooks, type Check } from '../src/billing/verify.ts'
import { openStore } from '../src/store/database.ts'
import { firstStart } from '../src/store/first-start.ts'
import { findProject, type Project } from '../src/store/projects.ts'
import type { Schema } from '../src/store/schema.ts'
import { sqliteDialect } from '../src/store/sqlite/connection.ts'
import { sqliteTx } from '../src/store/sqlite/tx.ts'
import type { Tx } from '../src/store/tx.ts'

/** A fresh database with one account and one project, as bytes to start from again and again. */
export type Template = {
  readonly image: Uint8Array
  readonly project: Project
  readonly keyId: string
}

export async function makeTemplate(): Promise<Template> {
  const dataDir = await mkdtemp(path.join(tmpdir(), 'facegate-ledger-'))
  const store = await openStore(dataDir)
  await store.change(({ db }) => firstStart(db, new Date()))
  const project = await findProject(store.db, 'default')
  const [key] = await store.db.selectFrom('keys').select('keyId').execute()
  await store.close()
  const file = new DatabaseSync(path.join(dataDir, 'facegate.db'))
  file.exec('PRAGMA journal_mode = DELETE')
  const image = file.serialize()
  file.close()
  await rm(dataDir, { recursive: true })
  if (!project || !key) throw new Error('the first start made nothing')
  return { image, project, keyId: key.keyId }
}

/** A database in memory on which the jobs of the gate run at once, one transaction each. */
export type Ledger = Disposable & {
  readonly connection: DatabaseSync
  /** Runs a job; `crash` loses it before its commit. */
  readonly job: <T>(run: (tx: Tx) => Promise<T>, ending?: 'commit' | 'crash') => Promise<T>
  readonly verify: (nowMs: number) => Promise<Check[]>
}

export function openLedger({ image }: Template): Ledger {
  const connection = new DatabaseSync(':memory:')
  connection.deserialize(image)
  const tx = sqliteTx(connection)
  const db = new Kysely<Schema>({ dialect: sqliteDialect(connection) })
  return {
    connection,
    job: async (run, ending = 'commit') => {
      connection.exec('BEGIN')
      try {
        const value = await run(tx)
        connection.exec(ending === 'commit' ? 'COMMIT' : 'ROLLBACK')
        return value
      } catch (error) {
        connection.exec('ROLLBACK')
        throw error
      }
    },
    verify: (nowMs) => verifyBooks(db, nowMs),
    [Symbol.dispose]: () => connection.close(),
  }
}
