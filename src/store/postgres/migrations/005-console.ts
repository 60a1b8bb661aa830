import { statements as sqliteStatements } from '../../sqlite/migrations/005-console.ts'
import { fromSqlite, withFreeSpace } from './from-sqlite.ts'
import { appendOnly } from './append-only.ts'
import { ofAccount, ofUser, secure } from './row-security.ts'

/**
 * Users of the console, their sessions, one-time links and second factors; and the permanent records:
 * the deletions of subjects, and the audit log. Only hashes of the tokens of sessions and links are
 * stored: a reader of the database can use neither.
 */
export const statements: readonly string[] = [
  ...fromSqlite(sqliteStatements),
  ...withFreeSpace('chainHeads'),
  ...secure(ofAccount, 'users'),
  ...secure(ofUser, 'sessions', 'links', 'secondFactors', 'recoveryCodes'),
  `create function "storeChainHead"() returns trigger language plpgsql as $$ begin
    insert into "chainHeads" as head
      values (tg_table_name, new."accountId", 1, new."rowHash")
      on conflict (chain, "accountId")
      do update set "headSeq" = head."headSeq" + 1, "headHash" = excluded."headHash";
    return null;
  end $$`,
  ...appendOnly('deletions'),
  `create trigger "deletions_head" after insert on "deletions"
    for each row execute function "storeChainHead"()`,
  ...secure(ofAccount, 'deletions'),
  ...appendOnly('auditLog'),
  `create trigger "auditLog_head" after insert on "auditLog"
    for each row execute function "storeChainHead"()`,
  ...secure(ofAccount, 'auditLog', 'chainHeads'),
]
