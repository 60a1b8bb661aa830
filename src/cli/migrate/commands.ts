import { defineCommand } from '../command-line/define-command.ts'
import { anyText, folderPath } from '../command-line/value-kinds.ts'
import { optional } from '../options.ts'

export const migrate = defineCommand({
  name: 'migrate',
  summary: 'move all data from SQLite to an empty PostgreSQL database',
  options: {
    to: optional(
      '<url>',
      'postgres://role:password@host:5432/database; without it, DATABASE_URL or the content of DATABASE_URL_FILE, so that the password does not appear in the process list',
      anyText,
    ),
    from: optional('<folder>', 'the data folder; without it, DATA_DIR', folderPath),
  },
  description: [
    'Stop the server first. Run an interrupted migration again: it continues. At the end, every row of both databases is compared. Until then no server starts on either database.',
    "Violations of the ledger's invariants do not prevent the migration: each is printed on standard error with its rule and row, and the exit code is 0. See facegate ledger verify. The master key and the models stay where they are. See docs/operations/sqlite-to-postgresql.md.",
  ].join('\n'),
  examples: ['facegate migrate --from ./data'],
  run: async (values) => (await import('./migrate.ts')).migrate(values),
})
