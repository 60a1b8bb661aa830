import { existsSync } from 'node:fs'
import path from 'node:path'
import { readConfig, type Config } from '../config.ts'
import { runAsAllAccounts } from '../lib/account-context.ts'
import type { Store } from '../store/database.ts'
import { openStore } from '../store/open-store.ts'
import { storeLocationOf } from '../start/store-location.ts'
import { findProject, findFirstAccountId, type Project } from '../store/tenancy/projects.ts'
import { UsageError, type CliCommand } from './command.ts'

/** Works on the database of the environment, also beside a server that uses it. */
export async function withStore<T>(work: (store: Store) => Promise<T>): Promise<T> {
  const config = readConfig(process.env)
  if (!hasDatabase(config))
    throw new Error(`there is no database in ${config.DATA_DIR}; start the service once`)
  const store = await openStore(storeLocationOf(config))
  try {
    return await runAsAllAccounts(() => work(store))
  } finally {
    await store.close()
  }
}

/** Whether there is a database to work on; one on a server says so itself. */
export function hasDatabase({ DATA_DIR, DATABASE_URL }: Config): boolean {
  return DATABASE_URL !== '' || existsSync(path.join(DATA_DIR, 'facegate.db'))
}

export async function requireProject(
  { db }: Store,
  idOrName: string | undefined,
): Promise<Project> {
  if (idOrName === undefined) throw new UsageError('name a project with --project')
  const project = await findProject(db, idOrName)
  if (!project) throw new Error(`there is no project ${idOrName}`)
  return project
}

export async function requireAccountId({ db }: Store): Promise<string> {
  const accountId = await findFirstAccountId(db)
  if (accountId === undefined) throw new Error('there is no account; start the service once')
  return accountId
}

type CommandRun = CliCommand['run']

/** A command of several verbs: the first argument says which. */
export function subcommands(runs: Readonly<Record<string, CommandRun>>): CommandRun {
  return (args) => {
    const [verb = 'nothing', ...rest] = args
    const run = runs[verb]
    if (!run) throw new UsageError(`${verb} is none of ${Object.keys(runs).join(', ')}`)
    return run(rest)
  }
}

/** One JSON value on one line, money as strings; or the text for people. */
export function print(value: unknown, isJson: boolean, text: () => string): void {
  console.log(isJson ? toJson(value) : text())
}

export function toJson(value: unknown): string {
  return JSON.stringify(value, (_key, inner: unknown) =>
    typeof inner === 'bigint' ? String(inner) : inner,
  )
}

/** Columns of equal width. */
export function formatTable(head: readonly string[], rows: readonly (readonly string[])[]): string {
  const widths = head.map((title, at) =>
    Math.max(title.length, ...rows.map((row) => row[at]?.length ?? 0)),
  )
  const line = (row: readonly string[]): string =>
    row
      .map((cell, at) => cell.padEnd(widths[at] ?? 0))
      .join('  ')
      .trimEnd()
  return [line(head), ...rows.map(line)].join('\n')
}
