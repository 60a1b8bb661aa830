import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import { DatabaseSync } from 'node:sqlite'

/**
 * Makes this process the only server of a data folder. The lock is an exclusive transaction on a
 * file of its own, kept open for ever: the operating system ends it with the process, however that
 * dies, so that no stale lock is ever left. Commands of administration do not take it.
 *
 * @throws Error that names the process that holds the folder.
 */
export function lockDataDir(dataDir: string): Disposable {
  mkdirSync(dataDir, { recursive: true, mode: 0o700 })
  const holderFile = path.join(dataDir, 'server.pid')
  const lock = new DatabaseSync(path.join(dataDir, 'server.lock'), { timeout: 0 })
  try {
    lock.exec('BEGIN EXCLUSIVE')
  } catch (cause) {
    lock.close()
    throw new Error(`another server, ${holderOf(holderFile)}, uses ${dataDir}`, { cause })
  }
  writeFileSync(holderFile, `${process.pid} ${new Date().toISOString()}\n`, { mode: 0o600 })
  return { [Symbol.dispose]: () => lock.close() }
}

/** The file names the holder for people; only the lock itself decides. */
function holderOf(file: string): string {
  try {
    const [pid, sinceUtc] = readFileSync(file, 'utf8').trim().split(' ')
    return `process ${pid} (since ${sinceUtc})`
  } catch {
    return 'a process that has just begun'
  }
}
