import { runAsAllAccounts } from '../../lib/account-context.ts'
import { readSecretFiles } from '../../lib/environment.ts'
import { masterKeyPath } from '../../start/store-location.ts'
import { parseServerAddress } from '../../store/postgres/connection/server-address.ts'
import { type CommandValues, UsageError, formatRows, toJson } from '../command.ts'
import { readSettings } from '../read-settings.ts'
import { warnOfViolations } from '../warn-of-violations.ts'
import { moveToPostgres, type MoveResult } from './move-to-postgres.ts'
import type { ComparisonProgress } from '../../store/sqlite-to-postgres/compare-tables.ts'
import type { CopyProgress } from '../../store/sqlite-to-postgres/copy-tables.ts'
import { createStatusLine } from '../status-line.ts'

const urlForm = 'postgres://role:password@host:5432/database'

/** Moves all data to PostgreSQL. @param from the folder; undefined: DATA_DIR. */
export async function migrate(values: CommandValues<never, 'to' | 'from'>): Promise<void> {
  const url = values.to ?? readDatabaseUrl()
  if (!/^postgres(?:ql)?:\/\//u.test(url))
    throw new UsageError(`the database URL must have the form ${urlForm}`)
  parseServerAddress(url) // Throws a precise error for an invalid URL.
  const config = readSettings({
    ...process.env,
    DATABASE_URL: url,
    DATABASE_URL_FILE: '',
    ...(values.from !== undefined && { DATA_DIR: values.from }),
  })
  const reporter = createMigrationReporter()
  const masterKeyFile = masterKeyPath(config)
  const migration = {
    dataDir: config.DATA_DIR,
    masterKeyFile,
    url,
    nowMs: Date.now,
    ...reporter,
    onAudited: warnOfViolations,
  }
  const result = await runAsAllAccounts(() => moveToPostgres(migration)).finally(reporter.end)
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
  if (!DATABASE_URL)
    throw new UsageError(`the database was not given; pass --to ${urlForm}, or set DATABASE_URL`)
  return DATABASE_URL
}

function report(
  { to, completedAtUtc, summary }: MoveResult,
  dataDir: string,
  masterKeyFile: string,
): string {
  if (!summary) return `${dataDir} was moved to ${to} at ${completedAtUtc}; there is nothing to do`
  const { expired, addedRows, copyMs, compareMs, comparisons, checks } = summary
  const rows = comparisons.reduce((sum, comparison) => sum + comparison.rows, 0)
  const hasRate = addedRows > 0 && copyMs > 0
  const rate = hasRate ? ` (${Math.round((addedRows * 1000) / copyMs)} rows/s)` : ''
  const parts = [
    formatRows(comparisons, {
      table: 'table',
      rows: 'rows',
      'amounts, equal in both databases': ({ sumsByColumn }) =>
        [...sumsByColumn].map(([column, micros]) => `${column} ${micros}`).join(', '),
    }),
    formatRows(checks, {
      invariant: 'name',
      '': ({ ok }) => (ok ? 'ok' : 'BROKEN'),
      'of the new ledger': 'detail',
    }),
    `${rows} rows are equal in both databases: ${addedRows} were copied in ${seconds(copyMs)}` +
      `${rate}, and all were compared in ${seconds(compareMs)}.`,
    ...(expired > 0 ? [`Calls interrupted with the server, not charged: ${expired}`] : []),
    'Start every server with DATABASE_URL now, and give each of them the same master key file.\n' +
      `Without it no template can be decrypted:\n\n  ${masterKeyFile}\n\n` +
      'The models are not moved: a server with another DATA_DIR needs the same models there.\n' +
      `Keep ${dataDir} until the new database has a backup. No server starts on it any more.`,
  ]
  return parts.join('\n\n')
}

function seconds(ms: number): string {
  return `${(ms / 1000).toFixed(1)} s`
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

/** Minimum time over which a rate is computed; over less it is not significant. */
const rateWindowMsMin = 1000

/** Prints the progress of a migration. */
function createMigrationReporter() {
  const startMs = Date.now()
  const { report, end } = createStatusLine()
  return {
    onProgress: ({ table, rows, total, addedRows }: CopyProgress) => {
      const elapsedMs = Date.now() - startMs
      const rate =
        elapsedMs > rateWindowMsMin ? `, ${Math.round((addedRows * 1000) / elapsedMs)} rows/s` : ''
      report(`copied ${rows} of ${total} rows of ${table}${rate}`, rows === total)
    },
    onCompared: ({ table, rows, total }: ComparisonProgress) =>
      report(`compared ${rows} of ${total} rows of ${table}`, rows === total),
    end,
  }
}
