import { auditLines, chainHeads, chainOf, type AuditQuestion } from '../store/audit.ts'
import { brokenActs } from '../store/admin-acts.ts'
import type { Database } from '../store/database.ts'
import { brokenDeletions } from '../store/deletions.ts'
import { transferHash } from './chain.ts'

/** One rule of the books, and whether they keep it. */
export type Check = {
  readonly name: string
  readonly ok: boolean
  /** What was found; when the rule is broken, the rows that break it. */
  readonly detail: string
}

type Rule = {
  readonly name: string
  readonly says: string
  readonly questions: readonly AuditQuestion[]
}

const rules: readonly Rule[] = [
  { name: 'L1', says: 'every balance is the sum of its postings', questions: ['unbalanced'] },
  { name: 'L2', says: 'every charge is what the request log says', questions: ['misbilled'] },
  { name: 'L3', says: 'no balance and no reservation is negative', questions: ['negative'] },
  {
    name: 'L4',
    says: 'every reservation belongs to a running call, and none is overdue',
    questions: ['misreserved', 'overdue'],
  },
  {
    name: 'L5',
    says: 'what was paid in is in wallets and budgets or was charged',
    questions: ['leaking', 'misrouted'],
  },
  {
    name: 'L6',
    says: 'transfers, deletion records and audit rows can be neither changed nor deleted',
    questions: ['unfrozen'],
  },
  { name: 'L7', says: 'every hash chain is whole', questions: [] },
  { name: 'L8', says: 'every amount is a whole number', questions: ['fractional'] },
  {
    name: 'L9',
    says: 'every charge has its row in the log; every subject is there as a whole, or not at all',
    questions: ['unlogged', 'halved'],
  },
]

/** Checks the books as they stand at one moment, whoever writes beside it. */
export function verifyBooks(db: Database, nowMs: number): Promise<Check[]> {
  const transaction = db.transaction().setIsolationLevel('repeatable read')
  return transaction.execute(async (snapshot) => {
    const checks: Check[] = []
    for (const { name, says, questions } of rules) {
      const broken: string[] = name === 'L7' ? await brokenLinks(snapshot) : []
      if (name === 'L7') {
        broken.push(...(await brokenDeletions(snapshot)))
        broken.push(...(await brokenActs(snapshot)))
      }
      for (const question of questions)
        broken.push(...(await auditLines(snapshot, question, nowMs)))
      const isKept = broken.length === 0
      checks.push({ name, ok: isKept, detail: isKept ? says : broken.join('; ') })
    }
    return checks
  })
}

/** Walks every chain from its first transfer to its head; the first wrong link of each is named. */
async function brokenLinks(db: Database): Promise<string[]> {
  const broken: string[] = []
  for (const head of await chainHeads(db)) {
    const found = await brokenLink(db, head)
    if (found) broken.push(found)
  }
  return broken
}

type Head = Awaited<ReturnType<typeof chainHeads>>[number]

async function brokenLink(db: Database, { ledger, headSeq, headHash }: Head) {
  let hash: Uint8Array = Buffer.alloc(32)
  let seq = 0
  for await (const row of chainOf(db, ledger)) {
    const place = `transfer ${row.transferId} (${row.seq} of ${ledger})`
    if (row.seq !== ++seq) return `${place} follows ${seq - 1}: a row is missing`
    hash = transferHash(hash, row)
    if (!Buffer.from(row.rowHash).equals(hash)) return `${place} does not fit its hash`
  }
  const isWhole = seq === headSeq && Buffer.from(headHash).equals(hash)
  return isWhole ? undefined : `${ledger} ends at transfer ${seq}, its head is ${headSeq}`
}
