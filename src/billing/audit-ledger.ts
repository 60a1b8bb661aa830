import {
  findAuditViolations,
  chainHeads,
  readChain,
  type AuditRuleName,
} from '../store/billing/ledger-audit.ts'
import { findBrokenAuditEntries } from '../store/console/audit-log.ts'
import type { Database } from '../store/schema.ts'
import { findBrokenDeletions } from '../store/gallery/deletions.ts'
import { transferHash } from './transfer-hash.ts'

/** One rule of the books, and whether they keep it. */
export type AuditCheck = {
  readonly name: string
  readonly ok: boolean
  /** What was found; when the rule is broken, the rows that break it. */
  readonly detail: string
}

type AuditRule = {
  readonly name: string
  readonly description: string
  readonly queries: readonly AuditRuleName[]
}

const auditRules: readonly AuditRule[] = [
  { name: 'L1', description: 'every balance is the sum of its postings', queries: ['unbalanced'] },
  { name: 'L2', description: 'every charge is what the request log says', queries: ['misbilled'] },
  { name: 'L3', description: 'no balance and no reservation is negative', queries: ['negative'] },
  {
    name: 'L4',
    description: 'every reservation belongs to a running call, and none is overdue',
    queries: ['misreserved', 'overdue'],
  },
  {
    name: 'L5',
    description: 'what was paid in is in wallets and budgets or was charged',
    queries: ['unaccounted', 'misrouted'],
  },
  {
    name: 'L6',
    description: 'transfers, deletion records and audit rows can be neither changed nor deleted',
    queries: ['mutable'],
  },
  { name: 'L7', description: 'every hash chain is whole', queries: [] },
  { name: 'L8', description: 'every amount is a whole number', queries: ['fractional'] },
  {
    name: 'L9',
    description:
      'every charge has its row in the log; every subject is there as a whole, or not at all',
    queries: ['unlogged', 'incomplete'],
  },
]

/** Checks the books as they stand at one moment, whoever writes beside it. */
export function auditLedger(db: Database, nowMs: number): Promise<AuditCheck[]> {
  const transaction = db.transaction().setIsolationLevel('repeatable read')
  return transaction.execute(async (snapshot) => {
    const checks: AuditCheck[] = []
    for (const { name, description: says, queries: questions } of auditRules) {
      const broken: string[] = name === 'L7' ? await brokenChains(snapshot) : []
      if (name === 'L7') {
        broken.push(...(await findBrokenDeletions(snapshot)))
        broken.push(...(await findBrokenAuditEntries(snapshot)))
      }
      for (const question of questions)
        broken.push(...(await findAuditViolations(snapshot, question, nowMs)))
      const isKept = broken.length === 0
      checks.push({ name, ok: isKept, detail: isKept ? says : broken.join('; ') })
    }
    return checks
  })
}

/** Walks every chain from its first transfer to its head; the first wrong link of each is named. */
async function brokenChains(db: Database): Promise<string[]> {
  const broken: string[] = []
  for (const head of await chainHeads(db)) {
    const found = await findBrokenLink(db, head)
    if (found) broken.push(found)
  }
  return broken
}

type ChainHead = Awaited<ReturnType<typeof chainHeads>>[number]

async function findBrokenLink(db: Database, { ledger, headSeq, headHash }: ChainHead) {
  let hash: Uint8Array = Buffer.alloc(32)
  let seq = 0
  for await (const row of readChain(db, ledger)) {
    const place = `transfer ${row.transferId} (${row.seq} of ${ledger})`
    if (row.seq !== ++seq) return `${place} follows ${seq - 1}: a row is missing`
    hash = transferHash(hash, row)
    if (!Buffer.from(row.rowHash).equals(hash)) return `${place} does not fit its hash`
  }
  const isWhole = seq === headSeq && Buffer.from(headHash).equals(hash)
  return isWhole ? undefined : `${ledger} ends at transfer ${seq}, its head is ${headSeq}`
}
