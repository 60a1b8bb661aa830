import path from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { unavailable } from '../../../src/lib/errors.ts'
import type { Store } from '../../../src/store/database.ts'
import { databaseFile } from '../../../src/store/sqlite/database-files.ts'

/** Is called before a commit (`commit`) and after it (`committed`). It may throw or kill the process. */
export type CommitHook = (step: 'commit' | 'committed') => void

/**
 * Calls a hook around the commits of a store's jobs and calls. An error of the hook fails what the
 * commit contains, as if the database did not respond.
 *
 * On SQLite, jobs and calls share a transaction: the hook runs in the driver, directly before and after
 * its COMMIT. On PostgreSQL it runs after the statements of a job, and before and after the single
 * statement of a call, which commits itself.
 */
export function hookCommits(store: Store, dataDir: string, hook: CommitHook): Store {
  if (store.isShared) return hookJobs(store, hook)
  hookDriver(path.join(dataDir, databaseFile), hook)
  return store
}

type Connections = { exec: (this: DatabaseSync, sql: string) => void }

/** Other database files of the process are not affected. */
function hookDriver(file: string, hook: CommitHook): void {
  const connections: Connections = DatabaseSync.prototype
  const { exec } = connections
  connections.exec = function execWithHook(sql) {
    // Only the writer's transactions end with this text; a snapshot ends with a mere COMMIT.
    const isCommit = sql.startsWith('COMMIT; PRAGMA synchronous') && this.location() === file
    if (isCommit) hook('commit')
    exec.call(this, sql)
    if (isCommit) hook('committed')
  }
}

function hookJobs(store: Store, hook: CommitHook): Store {
  const call: CommitHook = (step) => {
    try {
      hook(step)
    } catch (cause) {
      throw unavailable('The database does not respond.', 1, cause)
    }
  }
  const around = async <T>(commit: Promise<T>): Promise<T> => {
    const value = await commit
    call('committed')
    return value
  }
  const hookStatement =
    <Input, Row>(run: (input: Input) => Promise<Row>) =>
    async (input: Input): Promise<Row> => {
      call('commit')
      return around(run(input))
    }
  return {
    ...store,
    write: (job) =>
      around(
        store.write(async (tx) => {
          const value = await job(tx)
          call('commit')
          return value
        }),
      ),
    admitCall: hookStatement(store.admitCall),
    settleCall: hookStatement(store.settleCall),
  }
}
