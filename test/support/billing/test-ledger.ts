import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { DatabaseSync, type StatementSync } from 'node:sqlite'
import { Client } from 'pg'
import { auditLedger, type AuditCheck } from '../../../src/billing/audit-ledger.ts'
import { Kysely, type Store, type Tx } from '../../../src/store/database.ts'
import { openStore } from '../../../src/store/open-store.ts'
import { createInitialProject } from '../../../src/store/tenancy/create-initial-project.ts'
import { findProject, type Project } from '../../../src/store/tenancy/projects.ts'
import type { Schema } from '../../../src/store/schema.ts'
import { sqliteDialect } from '../../../src/store/sqlite/connection.ts'
import {
  createPendingCounts,
  createHourlyCountStatements,
} from '../../../src/store/sqlite/hourly-counts.ts'
import { sqliteTx } from '../../../src/store/sqlite/tx.ts'
import { isOnPostgres, createMigratedDatabase, openStoreAt } from '../database/engine.ts'
import { sharedPostgresServer, urlWithDatabase } from '../database/postgres-server.ts'

/** When the project of a snapshot was created. Its key expires a year later. */
export const ledgerStartMs = Date.UTC(2030, 0, 1)

/** A new database with one account and one project, from which tests create copies. */
export type LedgerSnapshot = {
  /** The content of an SQLite file, or the name of a PostgreSQL database. */
  readonly content: Uint8Array | string
  readonly project: Project
  readonly keyId: string
}

export async function createLedgerSnapshot(): Promise<LedgerSnapshot> {
  if (isOnPostgres()) return createPostgresSnapshot()
  const dataDir = await mkdtemp(path.join(tmpdir(), 'facegate-ledger-'))
  const store = await openStore(dataDir)
  const initial = await createFirstProject(store)
  await store.close()
  const file = new DatabaseSync(path.join(dataDir, 'facegate.db'))
  file.exec('PRAGMA journal_mode = DELETE')
  const content = file.serialize()
  file.close()
  await rm(dataDir, { recursive: true })
  return { content, ...initial }
}

/** Creates the data that the first start creates. */
async function createFirstProject(store: Store): Promise<Omit<LedgerSnapshot, 'content'>> {
  await store.runExclusive(({ db }) => createInitialProject(db, new Date(ledgerStartMs)))
  const project = await findProject(store.db, 'default')
  const [key] = await store.db.selectFrom('keys').select('keyId').execute()
  if (!project || !key) throw new Error('the first project or its key was not created')
  return { project, keyId: key.keyId }
}

/** A database for ledger operations, each in one transaction. */
export type TestLedger = AsyncDisposable & {
  /** Runs a transaction; `crash` rolls it back before its commit. */
  readonly runTransaction: <T>(
    run: (tx: Tx) => Promise<T>,
    outcome?: 'commit' | 'crash',
  ) => Promise<T>
  /** Returns rows of integers. */
  readonly query: (sql: string) => Promise<readonly Readonly<Record<string, bigint>>[]>
  /** Runs a statement without triggers and foreign keys, as a database administrator could. */
  readonly tamper: (sql: string) => Promise<void>
  readonly audit: (nowMs: number) => Promise<AuditCheck[]>
}

export async function openLedger({ content }: LedgerSnapshot): Promise<TestLedger> {
  if (typeof content === 'string') return openPostgresLedger(content)
  const connection = new DatabaseSync(':memory:')
  connection.deserialize(content)
  const pending = createPendingCounts(createHourlyCountStatements(connection))
  const tx = sqliteTx(connection, pending)
  const db = new Kysely<Schema>({ dialect: sqliteDialect(connection) })
  // The model test repeats one query after each step, and preparing it takes longer than its run.
  const statements = new Map<string, StatementSync>()
  return {
    runTransaction: async (run, outcome = 'commit') => {
      connection.exec('BEGIN')
      try {
        const value = await run(tx)
        if (outcome === 'commit') pending.flush()
        else pending.reset()
        connection.exec(outcome === 'commit' ? 'COMMIT' : 'ROLLBACK')
        return value
      } catch (error) {
        pending.reset()
        connection.exec('ROLLBACK')
        throw error
      }
    },
    query: async (sql) => {
      const statement = statements.get(sql) ?? connection.prepare(sql)
      statements.set(sql, statement)
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

/** Thrown to roll a transaction back, as a crash before its commit would. */
const simulatedCrash = new Error('crashed before the commit')

async function createPostgresSnapshot(): Promise<LedgerSnapshot> {
  const database = await createMigratedDatabase()
  const store = await openStoreAt(database.url)
  const initial = await createFirstProject(store)
  await store.close()
  return { content: database.name, ...initial }
}

/** @param template the name of the database to copy. */
async function openPostgresLedger(template: string): Promise<TestLedger> {
  const server = await sharedPostgresServer()
  const database = await server.createDatabase({ template })
  const store = await openStoreAt(database.url)
  const adminClient = new Client({
    connectionString: urlWithDatabase(server.adminUrl, database.name),
    types: { getTypeParser: () => parseBigint },
  })
  await adminClient.connect()
  // A view reads with the rights of its owner, to which row-level security applies.
  await adminClient.query(`set facegate.account = '*'`)
  return {
    runTransaction: async (run, outcome = 'commit') => {
      let [value]: Awaited<ReturnType<typeof run>>[] = []
      try {
        return await store.write(async (tx) => {
          // Settling may be a single statement that commits itself. This read begins a transaction.
          if (outcome === 'crash') await tx.run(tx.build.selectFrom('ledgers').select('ledger'))
          value = await run(tx)
          if (outcome === 'crash') throw simulatedCrash
          return value
        })
      } catch (error) {
        if (error !== simulatedCrash) throw error
        // The function completed before the rollback.
        return value as Awaited<ReturnType<typeof run>>
      }
    },
    query: async (sql) => (await adminClient.query(sql)).rows,
    tamper: async (sql) => {
      await adminClient.query(`set session_replication_role = replica; ${sql}`)
    },
    audit: (nowMs) => auditLedger(store.db, nowMs),
    [Symbol.asyncDispose]: async () => {
      await adminClient.end()
      await store.close()
      await database[Symbol.asyncDispose]()
    },
  }
}

function parseBigint(text: string): bigint {
  return BigInt(text)
}
