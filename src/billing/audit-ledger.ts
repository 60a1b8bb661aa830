import { findAuditViolations, chainHeads, readChain } from '../store/billing/ledger-audit.ts'
import { findBrokenAuditEntries } from '../store/console/audit-log.ts'
import type { Database } from '../store/schema.ts'
import { findBrokenDeletions } from '../store/gallery/deletions.ts'
import { transferHash } from '../store/billing/transfer-hash.ts'
import rules from './audit-rules.json' with { type: 'json' }

/** The result of one audit rule. */
export type AuditCheck = {
  readonly name: string
  readonly ok: boolean
  /** The rule, or the rows that violate it. */
  readonly detail: string
}

/** Checks the ledger in one consistent snapshot, while other transactions may write. */
export function auditLedger(db: Database, nowMs: number): Promise<AuditCheck[]> {
  const transaction = db.transaction().setAccessMode('read only')
  return transaction.execute((snapshot) => auditSnapshot(snapshot, nowMs))
}

/** Checks the ledger within an open transaction, by the rules and their queries in `ledger-audit.sql`. */
export async function auditSnapshot(snapshot: Database, nowMs: number): Promise<AuditCheck[]> {
  const checks: AuditCheck[] = []
  for (const { name, description, queries } of rules) {
    const violations = name === 'L7' ? await findBrokenChains(snapshot) : []
    for (const query of queries)
      violations.push(...(await findAuditViolations(snapshot, query, nowMs)))
    const ok = violations.length === 0
    checks.push({ name, ok, detail: ok ? description : violations.join('; ') })
  }
  return checks
}

/** Returns the first broken link of each chain of transfers, deletion records and audit entries. */
async function findBrokenChains(db: Database): Promise<string[]> {
  const broken: string[] = []
  for (const head of await chainHeads(db)) {
    const link = await findBrokenLink(db, head)
    if (link) broken.push(link)
  }
  return [...broken, ...(await findBrokenDeletions(db)), ...(await findBrokenAuditEntries(db))]
}

type ChainHead = Awaited<ReturnType<typeof chainHeads>>[number]

async function findBrokenLink(db: Database, { ledger, headSeq, headHash }: ChainHead) {
  let hash: Uint8Array = Buffer.alloc(32)
  let seq = 0
  for await (const row of readChain(db, ledger)) {
    const transfer = `transfer ${row.transferId} (${row.seq} of ${ledger})`
    if (row.seq !== ++seq) return `${transfer} follows ${seq - 1}: a row is missing`
    hash = transferHash(hash, row)
    if (!Buffer.from(row.rowHash).equals(hash)) return `${transfer} does not match its hash`
  }
  const isComplete = seq === headSeq && Buffer.from(headHash).equals(hash)
  return isComplete ? undefined : `${ledger} ends at transfer ${seq}, but its head is ${headSeq}`
}
