import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { Kysely } from 'kysely'
import { Client } from 'pg'
import { auditLedger, type AuditCheck } from '../../../src/billing/audit-ledger.ts'
import type { Store } from '../../../src/store/database.ts'
import { openStore } from '../../../src/store/open-store.ts'
import { createInitialProject } from '../../../src/store/tenancy/create-initial-project.ts'
import { findProject, type Project } from '../../../src/store/tenancy/projects.ts'
import type { Schema } from '../../../src/store/schema.ts'
import { sqliteDialect } from '../../../src/store/sqlite/connection.ts'
import { sqliteTx } from '../../../src/store/sqlite/tx.ts'
import type { Tx } from '../../../src/store/tx.ts'
import { isOnPostgres, createMigratedDatabase, openStoreAt } from '../database/engine.ts'
import { sharedPostgresServer, urlWithDatabase } from '../database/postgres-server.ts'

/** A fresh database with one account and one project, to start from again and again. */
export type LedgerSnapshot = {
  /** The file of SQLite, or the name of a database of PostgreSQL. */
  readonly content: Uint8Array | string
  readonly project: Project
  readonly keyId: string
}

export async function createLedgerSnapshot(): Promise<LedgerSnapshot> {
  if (isOnPostgres()) return createPostgresSnapshot()
  const dataDir = await mkdtemp(path.join(tmpdir(), 'facegate-ledger-'))
  const store = await openStore(dataDir)
  const made = await createFirstProject(store)
  await store.close()
  const file = new DatabaseSync(path.join(dataDir, 'facegate.db'))
  file.exec('PRAGMA journal_mode = DELETE')
  const image = file.serialize()
  file.close()
  await rm(dataDir, { recursive: true })
  return { content: image, ...made }
}

/** What the first start makes. */
async function createFirstProject(store: Store): Promise<Omit<LedgerSnapshot, 'content'>> {
  await store.runExclusive(({ db }) => createInitialProject(db, new Date()))
  const project = await findProject(store.db, 'default')
  const [key] = await store.db.selectFrom('keys').select('keyId').execute()
  if (!project || !key) throw new Error('the first start made nothing')
  return { project, keyId: key.keyId }
}

/** A database on which the jobs of the gate run, one transaction each. */
export type TestLedger = AsyncDisposable & {
  /** Runs a job; `crash` loses it before its commit. */
  readonly runTransaction: <T>(
    run: (tx: Tx) => Promise<T>,
    ending?: 'commit' | 'crash',
  ) => Promise<T>
  /** Rows of whole numbers. */
  readonly query: (sql: string) => Promise<readonly Readonly<Record<string, bigint>>[]>
  /** Changes what triggers and foreign keys guard, as whoever holds the database could. */
  readonly tamper: (sql: string) => Promise<void>
  readonly audit: (nowMs: number) => Promise<AuditCheck[]>
}

export async function openLedger({ content: image }: LedgerSnapshot): Promise<TestLedger> {
  if (typeof image === 'string') return openPostgresLedger(image)
  const connection = new DatabaseSync(':memory:')
  connection.deserialize(image)
  const tx = sqliteTx(connection)
  const db = new Kysely<Schema>({ dialect: sqliteDialect(connection) })
  return {
    runTransaction: async (run, ending = 'commit') => {
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
    query: async (sql) => {
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
    audit: (nowMs) => auditLedger(db, nowMs),
    [Symbol.asyncDispose]: async () => connection.close(),
  }
}

/** Thrown to take a job back as a crash before its commit would. */
const simulatedCrash = new Error('crashed before the commit')

async function createPostgresSnapshot(): Promise<LedgerSnapshot> {
  const database = await createMigratedDatabase()
  const store = await openStoreAt(database.url)
  const made = await createFirstProject(store)
  await store.close()
  return { content: database.name, ...made }
}

/** @param template the name of the database to start from. */
async function openPostgresLedger(template: string): Promise<TestLedger> {
  const server = await sharedPostgresServer()
  const database = await server.createDatabase({ template })
  const store = await openStoreAt(database.url)
  const outside = new Client({
    connectionString: urlWithDatabase(server.adminUrl, database.name),
    types: { getTypeParser: () => parseBigint },
  })
  await outside.connect()
  // A view asks with the rights of its owner, whom row-level security holds for.
  await outside.query(`set facegate.account = '*'`)
  return {
    runTransaction: async (run, ending = 'commit') => {
      let [value]: Awaited<ReturnType<typeof run>>[] = []
      try {
        return await store.write(async (tx) => {
          // A call's end may be one statement that commits by itself: only in a transaction is it lost.
          if (ending === 'crash') await tx.run(tx.build.selectFrom('ledgers').select('ledger'))
          value = await run(tx)
          if (ending === 'crash') throw simulatedCrash
          return value
        })
      } catch (error) {
        if (error !== simulatedCrash) throw error
        // The job ran to its end before it was taken back.
        return value as Awaited<ReturnType<typeof run>>
      }
    },
    query: async (sql) => (await outside.query(sql)).rows,
    tamper: async (sql) => {
      await outside.query(`set session_replication_role = replica; ${sql}`)
    },
    audit: (nowMs) => auditLedger(store.db, nowMs),
    [Symbol.asyncDispose]: async () => {
      await outside.end()
      await store.close()
      await database[Symbol.asyncDispose]()
    },
  }
}

function parseBigint(text: string): bigint {
  return BigInt(text)
}
