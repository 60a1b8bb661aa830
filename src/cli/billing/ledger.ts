import { auditLedger } from '../../billing/audit-ledger.ts'
import { subcommands, type CliCommand } from '../command.ts'
import { parseOptions } from '../options.ts'
import { formatTable, print } from '../output.ts'
import { withStore } from '../with-store.ts'

export const ledger: CliCommand = {
  name: 'ledger',
  summary: 'audit the ledger: balances, charges, reservations, hash chains',
  usage: `facegate ledger verify [--json]

  Checks the invariants L1 to L9 on one snapshot of the database; a server may run at
  the same time. The exit code is 0 when all hold. The output identifies the row that
  breaks an invariant.`,
  run: subcommands({ verify }),
}

async function verify(args: readonly string[]): Promise<void> {
  const { json } = parseOptions(args, {})
  const checks = await withStore(({ db }) => auditLedger(db, Date.now()))
  const broken = checks.filter((check) => !check.ok).map((check) => check.name)
  print({ ok: broken.length === 0, checks }, json, () =>
    formatTable(
      ['', '', ''],
      checks.map(({ name, ok, detail }) => [name, ok ? 'ok' : 'BROKEN', detail]),
    ).trimStart(),
  )
  if (broken.length > 0) throw new Error(`the ledger breaks ${broken.join(', ')}`)
}
