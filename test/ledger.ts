import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { Kysely } from 'kysely'
import { Client } from 'pg'
import { verifyBooks, type Check } from '../src/billing/verify.ts'
import { openStore, type Store } from '../src/store/database.ts'
import { firstStart } from '../src/store/first-start.ts'
import { findProject, type Project } from '../src/store/projects.ts'
import type { Schema } from '../src/store/schema.ts'
import { sqliteDialect } from '../src/store/sqlite/connection.ts'
import { sqliteTx } from '../src/store/sqlite/tx.ts'
import type { Tx } from '../src/store/tx.ts'
import { isOnPostgres, migratedDatabase, openStoreAt } from './engine.ts'
import { sharedServer, withDatabase } from './postgres.ts'

/** A fresh database with one account and one project, to start from again and again. */
export type Template = {
  /** The file of SQLite, or the name of a database of PostgreSQL. */
  readonly image: Uint8Array | string
  readonly project: Project
  readonly keyId: string
}

export async function makeTemplate(): Promise<Template> {
  if (isOnPostgres()) return makePostgresTemplate()
  const dataDir = await mkdtemp(path.join(tmpdir(), 'facegate-ledger-'))
  const store = await openStore(dataDir)
  const made = await firstProject(store)
  await store.close()
  const file = new DatabaseSync(path.join(dataDir, 'facegate.db'))
  file.exec('PRAGMA journal_mode = DELETE')
  const image = file.serialize()
  file.close()
  await rm(dataDir, { recursive: true })
  return { image, ...made }
}

/** What the first start makes. */
async function firstProject(store: Store): Promise<Omit<Template, 'image'>> {
  await store.change(({ db }) => firstStart(db, new Date()))
  const project = await findProject(store.db, 'default')
  const [key] = await store.db.selectFrom('keys').select('keyId').execute()
  if (!project || !key) throw new Error('the first start made nothing')
  return { project, keyId: key.keyId }
}

/** A database on which the jobs of the gate run, one transaction each. */
export type Ledger = AsyncDisposable & {
  /** Runs a job; `crash` loses it before its commit. */
  readonly job: <T>(run: (tx: Tx) => Promise<T>, ending?: 'commit' | 'crash') => Promise<T>
  /** Rows of whole numbers. */
  readonly look: (sql: string) => Promise<readonly Readonly<Record<string, bigint>>[]>
  /** Changes what triggers and foreign keys guard, as whoever holds the database could. */
  readonly tamper: (sql: string) => Promise<void>
  readonly verify: (nowMs: number) => Promise<Check[]>
}

export async function openLedger({ image }: Template): Promise<Ledger> {
  if (typeof image === 'string') return openPostgresLedger(image)
  const connection = new DatabaseSync(':memory:')
  connection.deserialize(image)
  const tx = sqliteTx(connection)
  const db = new Kysely<Schema>({ dialect: sqliteDialect(connection) })
  return {
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
    look: async (sql) => {
      const statement = connection.prepare(sql)
      statement.setReadBigInts(true)
      return statement.all() as Record<string, bigint>[]
    },
    tamper: async (sql) => {
      connection.exec('PRAGMA foreign_keys = OFF')
      connection.exec('drop trigger ledgerTransfers_no_update')
      if (sql.startsWith('delete from "ledger'))
        connection.exec('drop trigger ledgerTransfers_no_delete')
      connection.exec(sql)
    },
    verify: (nowMs) => verifyBooks(db, nowMs),
    [Symbol.asyncDispose]: async () => connection.close(),
  }
}

/** Thrown to take a job back as a crash before its commit would. */
const crash = new Error('crashed before the commit')

async function makePostgresTemplate(): Promise<Template> {
  const database = await migratedDatabase()
  const store = await openStoreAt(database.url)
  const made = await firstProject(store)
  await store.close()
  return { image: database.name, ...made }
}

/** @param template the name of the database to start from. */
async function openPostgresLedger(template: string): Promise<Ledger> {
  const server = await sharedServer()
  const database = await server.freshDatabase({ template })
  const store = await openStoreAt(database.url)
  const outside = new Client({
    connectionString: withDatabase(server.adminUrl, database.name),
    types: { getTypeParser: () => readWhole },
  })
  await outside.connect()
  // A view asks with the rights of its owner, whom row-level security holds for.
  await outside.query(`set facegate.account = '*'`)
  return {
    job: async (run, ending = 'commit') => {
      let [value]: Awaited<ReturnType<typeof run>>[] = []
      try {
        return await store.write(async (tx) => {
          // A call's end may be one statement that commits by itself: only in a transaction is it lost.
          if (ending === 'crash') await tx.run(tx.build.selectFrom('ledgers').select('ledger'))
          value = await run(tx)
          if (ending === 'crash') throw crash
          return value
        })
      } catch (error) {
        if (error !== crash) throw error
        // The job ran to its end before it was taken back.
        return value as Awaited<ReturnType<typeof run>>
      }
    },
    look: async (sql) => (await outside.query(sql)).rows,
    tamper: async (sql) => {
      await outside.query(`set session_replication_role = replica; ${sql}`)
    },
    verify: (nowMs) => verifyBooks(store.db, nowMs),
    [Symbol.asyncDispose]: async () => {
      await outside.end()
      await store.close()
      await database[Symbol.asyncDispose]()
    },
  }
}

function readWhole(text: string): bigint {
  return BigInt(text)
}
