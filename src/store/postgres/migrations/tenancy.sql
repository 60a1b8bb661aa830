-- Finds the key of a call. Its account is unknown, so the scope is all accounts. The version is the
-- transactions that wrote both rows: every change of a row is a new transaction. A server that
-- remembers the key need not read it before each call, because `admitCalls` compares the version.
create function "findCallKey"("keyHash" bytea) returns setof jsonb language plpgsql as $$ begin
  perform set_config('facegate.account', '*', true);
  return query select to_jsonb(p) || jsonb_build_object('keyId', k."keyId",
      'permissions', k.permissions, 'expiresAtUtc', k."expiresAtUtc",
      'revokedAtUtc', k."revokedAtUtc", 'isFormer', k.hash <> "keyHash",
      'formerEndsAtUtc', k."formerEndsAtUtc", 'formerLastUsedAtUtc', k."formerLastUsedAtUtc",
      'galleryId',
      case p."galleryMode" when 'shared' then p."accountId" else p."projectId" end,
      'version', k.xmin::text || ' ' || p.xmin::text)
    from keys k join projects p using ("projectId")
    where k.hash = "keyHash" or k."formerHash" = "keyHash";
end $$

-- A record outlives the account, so it has no foreign keys.
create table "accountMoves" (
  "moveId" text collate "C" not null, direction text collate "C" not null check (direction in ('in', 'out')),
  "accountId" text collate "C" not null, "otherDatabase" text collate "C" not null,
  "startedAtUtc" text collate "C" not null, "completedAtUtc" text collate "C", "removedAtUtc" text collate "C",
  primary key ("moveId", direction)
)

create index moves_of_account on "accountMoves" ("accountId")

-- Called by the triggers that `frozen-account.ts` creates for the account of a move. With the argument
-- "skip", the row stays as it is, without an error: housekeeping deletes rows of all accounts in one
-- statement.
create function "rejectFrozen"() returns trigger language plpgsql as $$ begin
  if tg_argv[0] = 'skip' then return null; end if;
  raise exception 'the account of this row is being moved to another database'
    using errcode = 'FG001';
end $$
