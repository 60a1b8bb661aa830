import { readStatements } from '../../migrations.ts'
import { fromSqlite, withFreeSpace } from './from-sqlite.ts'
import { appendOnly } from './append-only.ts'
import { ofAccount, ofUser, secure } from './row-security.ts'

/**
 * Users of the console, their sessions, one-time links and second factors; and the permanent records:
 * the deletions of subjects, and the audit log. Only hashes of the tokens of sessions and links are
 * stored: a reader of the database can use neither.
 */
export const statements: readonly string[] = [
  ...fromSqlite('005-console'),
  ...readStatements(new URL('console.sql', import.meta.url)),
  ...withFreeSpace('chainHeads'),
  ...secure(ofAccount, 'users'),
  ...secure(ofUser, 'sessions', 'links', 'secondFactors', 'recoveryCodes'),
  ...appendOnly('deletions'),
  ...secure(ofAccount, 'deletions'),
  ...appendOnly('auditLog'),
  ...secure(ofAccount, 'auditLog', 'chainHeads'),
]
