import { existsSync, mkdirSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { setImmediate as nextTurn, setTimeout as sleep } from 'node:timers/promises'
import { findScopedAccount } from '../../lib/account-context.ts'
import { steadyClock } from '../../lib/clock.ts'
import { describeError } from '../../lib/observability/describe-error.ts'
import { type DatabaseInfo, Kysely, type Store, type StoreOptions } from '../database.ts'
import { deleteRemovals } from '../gallery/removals.ts'
import { applyMigrations, readMigrationNames, requireReleased } from '../migrations.ts'
import type { Schema } from '../schema.ts'
import { createKeyFinders } from '../tenancy/keys.ts'
import { openWriter } from './calls/open-writer.ts'
import {
  busyTimeoutMs,
  createDurableTransaction,
  inSnapshot,
  openSqlite,
  sqliteDialect,
  truncateWal,
} from './connection.ts'
import { createPrivateFile, databaseFile } from './database-files.ts'
import { createKeyReader } from './key-reader.ts'
import { requireNotMigrated } from './migration-marker.ts'
import { sqliteReadTx } from './tx.ts'
import { throwUnavailable, turnMsMax } from './writer.ts'

/**
 * Opens the database of a data folder and migrates it to the current schema.
 *
 * @throws Error if the folder is not writable, other users may read the database, it was migrated to
 *   PostgreSQL, a draft or a later version created its schema, or a schema migration fails. The
 *   database is then unchanged.
 */
export async function openSqliteStore(dataDir: string, options: StoreOptions): Promise<Store> {
  requireNotMigrated(dataDir)
  return openSqliteStoreForMigration(dataDir, options)
}

/** Does the same, also for a database that is being migrated to PostgreSQL. */
export async function openSqliteStoreForMigration(
  dataDir: string,
  { readsGalleries = false }: StoreOptions,
): Promise<Store> {
  mkdirSync(dataDir, { recursive: true, mode: 0o700 })
  const file = path.join(dataDir, databaseFile)
  const missing = findMissingMigrations(file)
  const connection = openSqlite(file)
  const db = new Kysely<Schema>({ dialect: sqliteDialect(connection) })
  if (missing.length > 0) await migrateSchema(db, connection)
  // A separate connection reads only what is committed and waits for no writer.
  const reader = openSqlite(file)
  if (readsGalleries) reader.exec(`PRAGMA cache_size = -${galleryCacheKib}`)
  const readTx = sqliteReadTx(reader)
  // Key lookups need a third connection: they must not read from an older snapshot of the reader.
  const separate = openSqlite(file)
  const readKey = createKeyReader(connection, separate)
  const transaction = createDurableTransaction(connection, file)
  const writer = openWriter({ db, connection, transaction })
  const { write } = writer
  const queueRead = createReadQueue()
  return {
    db,
    ...writer,
    read: (job) =>
      queueRead(async () => {
        const value = await inSnapshot(reader, () => job(readTx)).catch(throwUnavailable)
        await transaction.synchronize() // The snapshot may contain what is not on the disk yet.
        return value
      }),
    isShared: false,
    // No other server uses the database.
    confirmRemovals: async (applied) => {
      for (const watermark of applied) await write((writing) => deleteRemovals(writing, watermark))
    },
    isFirstServer: true,
    steadyClock,
    checkpoint: () => emptyLog(connection, queueRead),
    ...createKeyFinders((hash) => readKey(hash).catch(throwUnavailable)),
    readInfo: () => readSqliteInfo(file, reader),
    close: async () => {
      reader.close()
      separate.close()
      await db.destroy()
      transaction.close()
    },
  }
}

/** With the default of 2 MiB, each row of a large gallery reads several pages of indexes again. */
const galleryCacheKib = 65_536

const migrationsFolder = new URL('migrations/', import.meta.url)

/**
 * Returns the names of the migrations that are not applied yet.
 *
 * @throws Error if a draft or a later version created the schema.
 */
function findMissingMigrations(file: string): readonly string[] {
  const known = readMigrationNames(migrationsFolder)
  const applied = readAppliedMigrations(file)
  requireReleased(applied, file)
  // SQLite has one server, so old and new versions never run together. An older one must not start.
  if (applied.some((name) => !known.includes(name)))
    throw new Error(`a later version has migrated ${file}: start that version, or restore a copy`)
  return known.filter((name) => !applied.includes(name))
}

/** Reads without the settings of `openSqlite`, which change the file of a restored copy. */
function readAppliedMigrations(file: string): readonly string[] {
  if (!existsSync(file)) return []
  // SQLite also deletes the write-ahead log of an empty file, which may contain the last data.
  if (statSync(file).size === 0)
    throw new Error(
      `${file} is empty: move it and the files beside it with its name away, then restore a copy ` +
        '(facegate restore); without this file, a start creates a new installation',
    )
  const connection = new DatabaseSync(file, { timeout: busyTimeoutMs })
  try {
    const sql = `select 1 from sqlite_schema where name = 'kysely_migration'`
    if (!connection.prepare(sql).get()) return []
    const rows = connection.prepare('select name from kysely_migration').all()
    return rows.map(({ name }) => String(name))
  } finally {
    connection.close()
  }
}

/** Runs all migrations in one transaction. */
async function migrateSchema(db: Kysely<Schema>, connection: DatabaseSync): Promise<void> {
  connection.exec('BEGIN IMMEDIATE')
  try {
    await applyMigrations(db, migrationsFolder)
    connection.exec('COMMIT')
  } catch (error) {
    // SQLite itself ends the transaction after some errors, such as a full disk.
    if (connection.isTransaction) connection.exec('ROLLBACK')
    throw error
  }
}

/** The wait for the reads of other processes and for the transaction of a call, which take as long. */
const checkpointRetryMs = 5

/**
 * Empties the write-ahead log between two reads of this process.
 *
 * @returns false if a read of another process prevents it for `busyTimeoutMs`.
 */
async function emptyLog(connection: DatabaseSync, queueRead: ReturnType<typeof createReadQueue>) {
  const endMs = performance.now() + busyTimeoutMs
  while (!(await queueRead(() => !connection.isTransaction && truncateWal(connection)))) {
    if (performance.now() > endMs) return false
    await sleep(checkpointRetryMs)
  }
  return true
}

type QueuedRead = { readonly start: () => void; readonly end: Promise<unknown> }

/**
 * Runs reads one after another, because a connection has one snapshot at a time. Accounts take turns:
 * a call that reads for seconds delays a read of another account by one read.
 */
function createReadQueue() {
  const waiting = new Map<string | undefined, QueuedRead[]>()
  let isRunning = false
  const runAll = async (): Promise<void> => {
    isRunning = true
    let turnStartMs = performance.now()
    for (const [accountId, reads] of waiting) {
      waiting.delete(accountId)
      const next = reads.shift()
      if (reads.length > 0) waiting.set(accountId, reads)
      next?.start()
      await next?.end
      if (performance.now() - turnStartMs < turnMsMax) continue
      await nextTurn()
      turnStartMs = performance.now()
    }
    isRunning = false
  }
  return <T>(read: () => Promise<T> | T): Promise<T> => {
    const started = Promise.withResolvers<void>()
    const result = started.promise.then(read)
    const accountId = findScopedAccount()
    const reads = waiting.get(accountId) ?? []
    reads.push({ start: started.resolve, end: result.catch(() => undefined) })
    waiting.set(accountId, reads)
    if (!isRunning) void runAll()
    return result
  }
}

async function readSqliteInfo(file: string, connection: DatabaseSync): Promise<DatabaseInfo> {
  const row = connection.prepare('select sqlite_version() as version').get()
  const sizeOf = (path: string) => statSync(path, { throwIfNoEntry: false })?.size ?? 0
  const bytes = sizeOf(file) + sizeOf(`${file}-wal`)
  const version = `SQLite ${String(row?.['version'])}`
  return { kind: 'sqlite', place: path.resolve(file), version, bytes }
}

/**
 * Locks a data folder, so that this process is its only server. The lock is an exclusive transaction
 * on a separate file, and it stays open. The operating system releases it when the process ends, even
 * after a crash, so no stale lock remains. Administration commands do not take the lock.
 *
 * @throws Error with the process that holds the lock.
 */
export function lockDataDir(dataDir: string): Disposable {
  mkdirSync(dataDir, { recursive: true, mode: 0o700 })
  const holderFile = path.join(dataDir, 'server.pid')
  const lockFile = path.join(dataDir, 'server.lock')
  createPrivateFile(lockFile)
  const lock = new DatabaseSync(lockFile, { timeout: 0 })
  try {
    lock.exec('BEGIN EXCLUSIVE')
  } catch (cause) {
    lock.close()
    const isBusy = cause instanceof Error && 'errcode' in cause && cause.errcode === 5
    if (!isBusy) throw new Error(`${lockFile} cannot be locked: ${describeError(cause)}`, { cause })
    throw new Error(`another server, ${describeHolder(holderFile)}, uses ${dataDir}`, { cause })
  }
  writeFileSync(holderFile, `${process.pid} ${new Date().toISOString()}\n`, { mode: 0o600 })
  return { [Symbol.dispose]: () => lock.close() }
}

/** Describes the holder for the error message. The lock does not depend on this file. */
function describeHolder(file: string): string {
  try {
    const [pid, sinceUtc] = readFileSync(file, 'utf8').trim().split(' ')
    return `process ${pid} (since ${sinceUtc})`
  } catch {
    return 'a process that has just started'
  }
}
