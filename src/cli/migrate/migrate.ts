import { parseArgs } from 'node:util'
import { readConfig } from '../../config.ts'
import { runAsAllAccounts } from '../../lib/account-context.ts'
import { readSecretFiles } from '../../lib/environment.ts'
import { masterKeyPath } from '../../start/open-gallery.ts'
import { formatTable, toJson } from '../with-store.ts'
import { parseServerAddress } from '../../store/sqlite-to-postgres/server-address.ts'
import { UsageError, type CliCommand } from '../command.ts'
import { moveToPostgres, type MoveResult } from './move-to-postgres.ts'
import { createMigrationReporter } from './migration-reporter.ts'

const text = { type: 'string' } as const

export const migrate: CliCommand = {
  name: 'migrate',
  summary: 'move everything from SQLite to an empty database of PostgreSQL',
  usage: `facegate migrate --to postgres://role:password@host:5432/database [--from <folder>] [--json]

  Stop the server first. --from is DATA_DIR where it is not given; --to is DATABASE_URL,
  or what DATABASE_URL_FILE holds, so that the password need not be in the list of
  processes. Cut off, it goes on where it was when it is run again. At the end every row
  there is held against the row here, and the books of both are verified; until then no
  server starts on either database. The master key and the models stay where they are.
  docs/operations/sqlite-to-postgresql.md tells the rest.`,
  run,
}

async function run(args: readonly string[]): Promise<void> {
  const { values } = parseArgs({
    args: [...args],
    options: { to: text, from: text, json: { type: 'boolean', default: false } },
  })
  const problems: string[] = []
  const url = values.to ?? readSecretFiles(process.env, problems)['DATABASE_URL'] ?? ''
  if (problems.length > 0) throw new UsageError(problems.join('; '))
  if (url === '') throw new UsageError('name a database with --to or in DATABASE_URL')
  if (!/^postgres(?:ql)?:\/\//u.test(url))
    throw new UsageError('the database is named as postgres://role:password@host:5432/database')
  parseServerAddress(url) // A URL that cannot be read is told of in words of its own.
  const config = readConfig({
    ...process.env,
    DATABASE_URL: url,
    DATABASE_URL_FILE: '',
    ...(values.from !== undefined && { DATA_DIR: values.from }),
  })
  const teller = createMigrationReporter(Date.now)
  const moving = { dataDir: config.DATA_DIR, url, nowMs: Date.now, ...teller }
  const moved = await runAsAllAccounts(() => moveToPostgres(moving)).finally(teller.end)
  const keyFile = masterKeyPath(config)
  console.log(values.json ? jsonOf(moved, keyFile) : report(moved, config.DATA_DIR, keyFile))
}

function report(
  { to, completedAtUtc, summary: done }: MoveResult,
  dataDir: string,
  keyFile: string,
): string {
  if (!done)
    return `${dataDir} was moved to ${to} at ${completedAtUtc}; there is nothing left to do`
  const { expired, addedRows, copyMs, compareMs, comparisons, checks } = done
  const rows = comparisons.reduce((sum, table) => sum + table.rows, 0)
  const parts = [
    formatTable(
      ['table', 'rows', 'sums of money, the same here and there'],
      comparisons.map(({ table, rows: count, sumsByColumn: money }) => [
        table,
        String(count),
        sumsOf(money),
      ]),
    ),
    formatTable(
      ['rule', '', 'of the books there'],
      checks.map(({ name, detail }) => [name, 'ok', detail]),
    ),
    `${rows} rows are there as they are here: ${addedRows} were copied in ${seconds(copyMs)}` +
      `${rateOf(addedRows, copyMs)} and all were compared in ${seconds(compareMs)}.`,
    ...(expired > 0 ? [`Calls cut off with the server, not billed: ${expired}`] : []),
    'Start every server with DATABASE_URL from now on, and give each of them this master key, the\n' +
      `same file everywhere; without it no face can be read:\n\n  ${keyFile}\n\n` +
      'The models stay where they are, too; a server with a DATA_DIR of its own needs the same ones.\n' +
      `Keep ${dataDir} until a backup of the new database is made: no server starts on it any more.`,
  ]
  return parts.join('\n\n')
}

function sumsOf(money: ReadonlyMap<string, bigint>): string {
  return [...money].map(([column, micros]) => `${column} ${micros}`).join(', ')
}

function seconds(ms: number): string {
  return `${(ms / 1000).toFixed(1)} s`
}

function rateOf(rows: number, ms: number): string {
  return rows > 0 && ms > 0 ? ` (${Math.round((rows * 1000) / ms)} rows/s)` : ''
}

function jsonOf({ summary: done, ...moved }: MoveResult, keyFile: string): string {
  if (!done) return toJson({ ...moved, masterKeyFile: keyFile, wasDone: true })
  const comparisons = done.comparisons.map(({ table, rows, sumsByColumn: money }) => ({
    table,
    rows,
    ...Object.fromEntries(money),
  }))
  return toJson({ ...moved, masterKeyFile: keyFile, wasDone: false, ...done, comparisons })
}
