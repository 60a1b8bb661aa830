import { readConfig } from '../../config.ts'
import { runAsAllAccounts } from '../../lib/account-context.ts'
import { readSecretFiles } from '../../lib/environment.ts'
import { masterKeyPath } from '../../start/open-gallery.ts'
import { parseServerAddress } from '../../store/sqlite-to-postgres/server-address.ts'
import { UsageError, type CliCommand } from '../command.ts'
import { parseOptions, requireOption, text } from '../options.ts'
import { formatTable, toJson } from '../output.ts'
import { warnOfViolations } from '../warn-of-violations.ts'
import { createMigrationReporter } from './migration-reporter.ts'
import { moveToPostgres, type MoveResult } from './move-to-postgres.ts'

const urlForm = 'postgres://role:password@host:5432/database'

export const migrate: CliCommand = {
  name: 'migrate',
  summary: 'move all data from SQLite to an empty PostgreSQL database',
  usage: `facegate migrate --to ${urlForm} [--from <folder>] [--json]

  Stop the server first. --from: without it, DATA_DIR is used. --to: without it,
  DATABASE_URL or the content of DATABASE_URL_FILE is used, so that the password does
  not appear in the process list. Run an interrupted migration again: it continues. At
  the end, every row of both databases is compared. Until then no server starts on
  either database. Violations of the ledger's invariants do not prevent the migration:
  each is printed on standard error with its rule and row, and the exit code is 0. See
  facegate ledger verify. The master key and the models stay where they are. See
  docs/operations/sqlite-to-postgresql.md.`,
  run,
}

async function run(args: readonly string[]): Promise<void> {
  const values = parseOptions(args, { to: text, from: text })
  const url = values.to ?? readDatabaseUrl()
  if (!/^postgres(?:ql)?:\/\//u.test(url))
    throw new UsageError(`the database URL must have the form ${urlForm}`)
  parseServerAddress(url) // Throws a precise error for an invalid URL.
  const config = readConfig({
    ...process.env,
    DATABASE_URL: url,
    DATABASE_URL_FILE: '',
    ...(values.from !== undefined && { DATA_DIR: values.from }),
  })
  const reporter = createMigrationReporter(Date.now)
  const migration = {
    dataDir: config.DATA_DIR,
    url,
    nowMs: Date.now,
    ...reporter,
    onAudited: warnOfViolations,
  }
  const result = await runAsAllAccounts(() => moveToPostgres(migration)).finally(reporter.end)
  const masterKeyFile = masterKeyPath(config)
  console.log(
    values.json
      ? formatJson(result, masterKeyFile)
      : report(result, config.DATA_DIR, masterKeyFile),
  )
}

function readDatabaseUrl(): string {
  const problems: string[] = []
  const { DATABASE_URL } = readSecretFiles(process.env, problems)
  if (problems.length > 0) throw new UsageError(problems.join('; '))
  return requireOption(
    DATABASE_URL || undefined,
    'the database',
    `--to ${urlForm}, or set DATABASE_URL`,
  )
}

function report(
  { to, completedAtUtc, summary }: MoveResult,
  dataDir: string,
  masterKeyFile: string,
): string {
  if (!summary) return `${dataDir} was moved to ${to} at ${completedAtUtc}; there is nothing to do`
  const { expired, addedRows, copyMs, compareMs, comparisons, checks } = summary
  const rows = comparisons.reduce((sum, comparison) => sum + comparison.rows, 0)
  const parts = [
    formatTable(
      ['table', 'rows', 'amounts, equal in both databases'],
      comparisons.map((comparison) => [
        comparison.table,
        String(comparison.rows),
        formatSums(comparison.sumsByColumn),
      ]),
    ),
    formatTable(
      ['invariant', '', 'of the new ledger'],
      checks.map(({ name, ok, detail }) => [name, ok ? 'ok' : 'BROKEN', detail]),
    ),
    `${rows} rows are equal in both databases: ${addedRows} were copied in ${seconds(copyMs)}` +
      `${formatRate(addedRows, copyMs)}, and all were compared in ${seconds(compareMs)}.`,
    ...(expired > 0 ? [`Calls interrupted with the server, not charged: ${expired}`] : []),
    'Start every server with DATABASE_URL now, and give each of them the same master key file.\n' +
      `Without it no template can be decrypted:\n\n  ${masterKeyFile}\n\n` +
      'The models are not moved: a server with another DATA_DIR needs the same models there.\n' +
      `Keep ${dataDir} until the new database has a backup. No server starts on it any more.`,
  ]
  return parts.join('\n\n')
}

function formatSums(sums: ReadonlyMap<string, bigint>): string {
  return [...sums].map(([column, micros]) => `${column} ${micros}`).join(', ')
}

function seconds(ms: number): string {
  return `${(ms / 1000).toFixed(1)} s`
}

function formatRate(rows: number, ms: number): string {
  return rows > 0 && ms > 0 ? ` (${Math.round((rows * 1000) / ms)} rows/s)` : ''
}

function formatJson({ summary, ...result }: MoveResult, masterKeyFile: string): string {
  if (!summary) return toJson({ ...result, masterKeyFile, wasDone: true })
  const comparisons = summary.comparisons.map(({ table, rows, sumsByColumn }) => ({
    table,
    rows,
    ...Object.fromEntries(sumsByColumn),
  }))
  return toJson({ ...result, masterKeyFile, wasDone: false, ...summary, comparisons })
}
