import { sql, type Kysely, type Migration } from 'kysely'

/**
 * Prices and the double-entry ledger.
 *
 * A transfer contains its source and its target ledger, so it is always balanced. The view
 * `ledgerPostings` shows its two sides. Only wallets and budgets store a balance. Payments and the
 * revenue of an action are sums of transfers, so calls do not compete for a row that all of them
 * would update. Each wallet and each budget has a hash chain. STRICT tables reject everything but
 * 64-bit integers, also if a sum overflows.
 */
export const money: Migration = { up }

async function up(db: Kysely<unknown>): Promise<void> {
  for (const statement of [prices, ledgers, ...opened, transfers, ...derived, ...frozen])
    await sql.raw(statement).execute(db)
}

const prices = `
  create table prices (
    accountId text not null references accounts (accountId),
    action text not null,
    unitMicros integer not null check (unitMicros >= 0),
    primary key (accountId, action)
  ) strict, without rowid`

const ledgers = `
  create table ledgers (
    ledger text primary key check (ledger like 'wallet:%' or ledger like 'budget:%'),
    accountId text not null references accounts (accountId),
    balanceMicros integer not null default 0 check (balanceMicros >= 0),
    reservedMicros integer not null default 0 check (reservedMicros >= 0),
    headSeq integer not null default 0,
    headHash blob not null default (zeroblob(32)),
    check (balanceMicros >= reservedMicros)
  ) strict, without rowid`

/** Adds empty ledgers to existing accounts and projects. */
const opened = [
  `insert into ledgers (ledger, accountId) select 'wallet:' || accountId, accountId from accounts`,
  `insert into ledgers (ledger, accountId) select 'budget:' || projectId, accountId from projects`,
]

const transfers = `
  create table ledgerTransfers (
    transferId integer primary key,
    chain text not null references ledgers (ledger),
    seq integer not null check (seq >= 1),
    kind text not null check (kind in ('topUp', 'allocate', 'charge')),
    fromLedger text not null,
    toLedger text not null check (toLedger <> fromLedger),
    amountMicros integer not null check (amountMicros > 0),
    atMs integer not null,
    projectId text,
    requestId text,
    windowStartMs integer,
    rowHash blob not null check (length(rowHash) = 32),
    unique (chain, seq)
  ) strict`

const derived = [
  `create unique index one_charge_per_request
    on ledgerTransfers (projectId, requestId, windowStartMs) where kind = 'charge'`,
  `create view ledgerPostings as
    select transferId, toLedger as ledger, amountMicros from ledgerTransfers
    union all
    select transferId, fromLedger as ledger, -amountMicros as amountMicros from ledgerTransfers`,
]

const frozen = ['update', 'delete'].map(
  (change) => `
    create trigger ledgerTransfers_no_${change} before ${change} on ledgerTransfers
    begin select raise(abort, 'the ledger is append-only'); end`,
)
