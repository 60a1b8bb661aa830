import { statSync } from 'node:fs'
import path from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import type { Config } from '../config.ts'
import { runAsAllAccounts } from '../lib/account-context.ts'
import { storeLocationOf } from '../start/store-location.ts'
import type { Store } from '../store/database.ts'
import { openStore } from '../store/open-store.ts'
import {
  type Project,
  findProject,
  galleryIdOf,
  listAccounts,
  listProjects,
} from '../store/tenancy/projects.ts'
import { readSettings } from './read-settings.ts'

/** Counting the templates of a million faces takes minutes on a loaded machine. */
const readTimeoutMs = 600_000

/**
 * Runs `work` on the database of the environment. A server may use the database at the same time.
 *
 * @throws Error when DATA_DIR contains no database; none is created.
 */
export async function withStore<T>(work: (store: Store) => Promise<T>): Promise<T> {
  const config = readSettings()
  if (!hasDatabase(config))
    throw new Error(`there is no database in ${config.DATA_DIR}; start the service once`)
  const opened = await openStore(storeLocationOf(config), { readTimeoutMs })
  const store = opened.isShared ? opened : pauseAfterWrites(opened, sleep)
  try {
    return await runAsAllAccounts(() => work(store))
  } finally {
    await store.close()
  }
}

/**
 * Pauses after each write for as long as it took. A process that waits for the lock of SQLite retries at
 * intervals of up to 100 ms: between writes without a pause, it rarely finds the lock released.
 */
export function pauseAfterWrites(store: Store, pause: (ms: number) => Promise<unknown>): Store {
  const write: Store['write'] = async (job) => {
    const startMs = performance.now()
    const result = await store.write(job)
    await pause(performance.now() - startMs)
    return result
  }
  return { ...store, write }
}

/** Returns whether DATA_DIR contains a database. PostgreSQL itself reports a missing database. */
export function hasDatabase({ DATA_DIR, DATABASE_URL }: Config): boolean {
  if (DATABASE_URL !== '') return true
  return statSync(path.join(DATA_DIR, 'facegate.db'), { throwIfNoEntry: false }) !== undefined
}

/** Runs `work` on the gallery of a project. */
export function withProject<T>(
  idOrName: string,
  work: (store: Store, project: Project, galleryId: string) => Promise<T>,
): Promise<T> {
  return withStore(async (store) => {
    const project = await requireProject(store, idOrName)
    return work(store, project, galleryIdOf(project))
  })
}

/** @throws Error when no project has this id or name, it was deleted, or several have this name. */
export async function requireProject({ db }: Pick<Store, 'db'>, idOrName: string) {
  const project = await findProject(db, idOrName)
  if (!project)
    throw new Error(`there is no project ${idOrName}; facegate project list prints all projects`)
  if (project.deletedAtUtc !== null)
    throw new Error(`the project ${project.projectId} was deleted at ${project.deletedAtUtc}`)
  const same = (await listProjects(db)).filter(({ name }) => name === idOrName)
  if (project.projectId !== idOrName && same.length > 1)
    throw new Error(`${same.length} projects have the name ${idOrName}; give the id of one of them`)
  return project
}

/** Returns the id of a project; undefined without an id or a name. @throws as `requireProject`. */
export async function findProjectId(store: Store, idOrName?: string): Promise<string | undefined> {
  return idOrName === undefined ? undefined : (await requireProject(store, idOrName)).projectId
}

/**
 * Returns the id of an account; without an id or a name, that of the oldest account.
 *
 * @throws Error when there is no such account, or several have this name.
 */
export async function requireAccountId({ db }: Pick<Store, 'db'>, idOrName?: string) {
  const accounts = await listAccounts(db)
  const [oldest] = accounts
  if (!oldest) throw new Error('there is no account; start the service once')
  if (idOrName === undefined) return oldest.accountId
  const withId = accounts.filter(({ accountId }) => accountId === idOrName)
  const found = withId.length > 0 ? withId : accounts.filter(({ name }) => name === idOrName)
  const [account] = found
  if (!account)
    throw new Error(`there is no account ${idOrName}; facegate account list prints all accounts`)
  if (found.length > 1)
    throw new Error(
      `${found.length} accounts have the name ${idOrName}; give the id of one of them`,
    )
  return account.accountId
}
