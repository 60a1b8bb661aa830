import { parseArgs } from 'node:util'
import { auditLedger } from '../../billing/audit-ledger.ts'
import { formatTable, print, subcommands, withStore } from '../with-store.ts'
import type { CliCommand } from '../command.ts'

export const ledger: CliCommand = {
  name: 'ledger',
  summary: 'verify the books: balances, charges, reservations, hash chains',
  usage: `facegate ledger verify [--json]

  Checks the invariants L1 to L9 as they stand at one moment, also beside a running
  server. The exit code is 0 when all hold; a row that breaks one is named.`,
  run: subcommands({ verify }),
}

async function verify(args: readonly string[]): Promise<void> {
  const { values } = parseArgs({
    args: [...args],
    options: { json: { type: 'boolean', default: false } },
  })
  const checks = await withStore(({ db }) => auditLedger(db, Date.now()))
  const broken = checks.filter((check) => !check.ok).map((check) => check.name)
  print({ ok: broken.length === 0, checks }, values.json, () =>
    formatTable(
      ['', '', ''],
      checks.map(({ name, ok, detail }) => [name, ok ? 'ok' : 'BROKEN', detail]),
    ).trimStart(),
  )
  if (broken.length > 0) throw new Error(`the books break ${broken.join(', ')}`)
}
