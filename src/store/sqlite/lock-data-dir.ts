import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { createPrivateFile } from './database-files.ts'

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
