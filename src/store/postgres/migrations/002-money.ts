import { fromSqlite, withFreeSpace } from './from-sqlite.ts'
import { appendOnly, rejectChange } from './append-only.ts'
import { ofAccount, ofChain, secure } from './row-security.ts'

/** Prices and the double-entry ledger, which `store/sqlite/migrations/002-money.sql` describes. */
export const statements: readonly string[] = [
  ...fromSqlite('002-money', { except: ['one_charge_per_request'] }),
  ...withFreeSpace('ledgers'),
  'create index ledgers_of_account on ledgers ("accountId")',
  ...secure(ofAccount, 'prices', 'ledgers'),
  `create unique index one_charge_per_request
    on "ledgerTransfers" ("projectId", "requestId", "windowStartMs") where kind = 'charge'`,
  rejectChange,
  ...appendOnly('ledgerTransfers'),
  ...secure(ofChain, 'ledgerTransfers'),
]
