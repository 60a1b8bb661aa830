import { auditLedger } from '../../billing/audit-ledger.ts'
import { formatTable, print } from '../command.ts'
import { withStore } from '../with-store.ts'

export async function verify({ json }: { readonly json: boolean }): Promise<void> {
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
