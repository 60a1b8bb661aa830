import assert from 'node:assert/strict'
import { ledgerStartMs, type TestLedger } from './test-ledger.ts'

/** Price of every call in the model test. */
export const priceMicros = 1000n

/** The expected state of the ledger. */
export type LedgerModel = {
  nowMs: number
  wallet: bigint
  budget: bigint
  charged: bigint
  /** Request number → its in-flight call. */
  readonly running: Map<number, { token: string; content: number; dueMs: number }>
  /** Request number → its settled call. */
  readonly done: Map<number, { content: number; sinceMs: number; code: string }>
}

export function createModel(): LedgerModel {
  return {
    nowMs: ledgerStartMs,
    wallet: 0n,
    budget: 0n,
    charged: 0n,
    running: new Map(),
    done: new Map(),
  }
}

/** Compares the database with the model in one query: L1, L3, L4 and L5 after every step. */
export function createChecker({ query }: TestLedger): (model: LedgerModel) => Promise<void> {
  const sql = `
    select
      (select "balanceMicros" from ledgers where ledger like 'wallet:%') as wallet,
      (select "balanceMicros" from ledgers where ledger like 'budget:%') as budget,
      (select "reservedMicros" from ledgers where ledger like 'budget:%') as reserved,
      (select coalesce(sum("amountMicros"), 0) from "ledgerPostings" where ledger like 'wallet:%') as posted,
      (select coalesce(sum("amountMicros"), 0) from "ledgerPostings" where ledger like 'budget:%') as spent,
      (select coalesce(sum("amountMicros"), 0) from "ledgerPostings" where ledger like 'revenue:%') as revenue,
      (select coalesce(sum("amountMicros"), 0) from "ledgerPostings") as total,
      (select coalesce(sum("costMicros"), 0) from calls) as billed,
      (select coalesce(sum("reservedMicros"), 0) from attempts) as held,
      (select count(*) from "ledgerTransfers") as transfers,
      (select sum("headSeq") from ledgers) as links`
  return async (model) => {
    const [row = {}] = await query(sql)
    const reserved = priceMicros * BigInt(model.running.size)
    assert.equal(row['wallet'], model.wallet)
    assert.equal(row['posted'], model.wallet)
    assert.equal(row['budget'], model.budget)
    assert.equal(row['spent'], model.budget)
    assert.equal(row['reserved'], reserved)
    assert.equal(row['held'], reserved)
    assert.equal(row['revenue'], model.charged)
    assert.equal(row['billed'], model.charged)
    assert.equal(row['total'], 0n)
    assert.equal(row['transfers'], row['links'])
  }
}
