import { closeSync, fdatasync, openSync } from 'node:fs'
import type { DatabaseSync } from 'node:sqlite'
import { promisify } from 'node:util'

/** A transaction whose commit waits for the disk in another thread. */
export type DurableTransaction = {
  readonly begin: () => void
  /** Commits. A killed process has not lost the transaction. @throws Error if nothing was committed. */
  readonly commit: () => void
  /**
   * Resolves when all that was committed is on the disk. Before that, nothing that depends on it may
   * leave the process.
   *
   * @throws Error if the disk failed. Then every later transaction fails, because it is unknown which
   *   of the earlier ones are on the disk.
   */
  readonly synchronize: () => Promise<void>
  readonly rollback: () => void
  readonly close: () => void
}

const synchronizeFile = promisify(fdatasync)

/**
 * Returns transactions with the durability of `synchronous=FULL`. With that setting, SQLite blocks the
 * event loop while the disk writes the log. Here SQLite only writes to the log, and a thread of the
 * file system functions waits for the disk. SQLite itself still waits before it copies the log to the
 * database file (`synchronous=NORMAL`), and in all other transactions of the connection.
 *
 * @param synchronize waits until the content of an open file is on the disk.
 */
export function createDurableTransaction(
  connection: DatabaseSync,
  file: string,
  synchronize: (descriptor: number) => Promise<void> = synchronizeFile,
): DurableTransaction {
  let descriptor: number | undefined
  let synchronized: Promise<void> = Promise.resolve()
  let isSynchronized = true
  let failure: { readonly cause: unknown } | undefined
  const syncLog = async (): Promise<void> => {
    // The log exists from the first commit until the last connection is closed.
    descriptor ??= openSync(`${file}-wal`, 'r+')
    try {
      await synchronize(descriptor)
    } catch (cause) {
      failure = { cause }
      throw cause
    }
  }
  return {
    begin: () => {
      if (failure)
        throw new Error('the disk failed during an earlier commit; restart the service', failure)
      connection.exec('PRAGMA synchronous = NORMAL; BEGIN IMMEDIATE')
    },
    commit: () => {
      connection.exec('COMMIT; PRAGMA synchronous = FULL')
      isSynchronized = false
    },
    synchronize: () => {
      if (!isSynchronized) {
        isSynchronized = true
        synchronized = syncLog()
      }
      return synchronized
    },
    rollback: () => {
      if (connection.isTransaction) connection.exec('ROLLBACK')
      connection.exec('PRAGMA synchronous = FULL')
    },
    close: () => {
      if (descriptor !== undefined) closeSync(descriptor)
    },
  }
}
