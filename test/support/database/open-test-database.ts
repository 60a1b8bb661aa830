import type { Config } from '../../../src/config.ts'
import {
  openServerStore,
  startDatabase,
  type OpenDatabaseOptions,
  type OpenedDatabase,
} from '../../../src/start/open-database.ts'
import type { Store } from '../../../src/store/database.ts'
import { hookCommits, type CommitHook } from './hook-commits.ts'

export type TestDatabaseOptions = OpenDatabaseOptions & {
  /** Replaces parts of the store. */
  readonly wrapStore?: (store: Store) => Store
  readonly onCommit?: CommitHook
}

/** Opens the database of a service whose store the test wraps. */
export async function openTestDatabase(
  config: Config,
  options: TestDatabaseOptions,
): Promise<OpenedDatabase> {
  const { wrapStore = (unchanged) => unchanged, onCommit } = options
  const opened = await openServerStore(config, options)
  const wrapped = wrapStore(opened.store)
  const store = onCommit ? hookCommits(wrapped, config.DATA_DIR, onCommit) : wrapped
  return startDatabase(config, options, { ...opened, store })
}
