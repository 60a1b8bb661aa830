-- Prices and the double-entry ledger.
--
-- A transfer contains its source and its target ledger, so it is always balanced. The view
-- `ledgerPostings` shows its two sides. Only wallets and budgets store a balance. Payments and the
-- revenue of an action are sums of transfers, so calls do not compete for a row that all of them
-- would update. Each wallet and each budget has a hash chain. STRICT tables reject everything but
-- 64-bit integers, also if a sum overflows.

create table prices (
  accountId text not null references accounts, action text not null,
  unitMicros integer not null check (unitMicros >= 0),
  primary key (accountId, action)
) strict, without rowid

create table ledgers (
  ledger text primary key check (ledger like 'wallet:%' or ledger like 'budget:%'),
  accountId text not null references accounts,
  balanceMicros integer not null default 0 check (balanceMicros >= 0),
  reservedMicros integer not null default 0 check (reservedMicros >= 0),
  headSeq integer not null default 0, headHash blob not null default (zeroblob(32)),
  lowAtMicros integer, exhaustedAtMicros integer,
  check (balanceMicros >= reservedMicros)
) strict, without rowid

create table ledgerTransfers (
  transferId integer primary key, chain text not null references ledgers,
  seq integer not null check (seq >= 1),
  kind text not null check (kind in ('topUp', 'allocate', 'charge')),
  fromLedger text not null, toLedger text not null check (toLedger <> fromLedger),
  amountMicros integer not null check (amountMicros > 0),
  atMs integer not null, projectId text, requestId text, windowStartMs integer,
  rowHash blob not null check (length(rowHash) = 32),
  unique (chain, seq)
) strict

-- The time comes before the random id, so that new charges are added at the end of the index: one
-- changed page for many calls instead of one for each call.
create unique index one_charge_per_request
  on ledgerTransfers (projectId, windowStartMs, requestId) where kind = 'charge'

create unique index one_top_up_per_request
  on ledgerTransfers (chain, requestId) where kind = 'topUp'

create index transfers_by_time on ledgerTransfers (atMs)

create index transfers_by_project on ledgerTransfers (projectId, atMs)

create index transfers_of_money on ledgerTransfers (chain, kind, atMs) where kind <> 'charge'

create trigger ledgerTransfers_no_update before update on ledgerTransfers
  begin select raise(abort, 'ledgerTransfers is append-only'); end

create trigger ledgerTransfers_no_delete before delete on ledgerTransfers
  begin select raise(abort, 'ledgerTransfers is append-only'); end

create view ledgerPostings as
  select transferId, toLedger as ledger, amountMicros from ledgerTransfers
  union all
  select transferId, fromLedger as ledger, -amountMicros as amountMicros from ledgerTransfers
