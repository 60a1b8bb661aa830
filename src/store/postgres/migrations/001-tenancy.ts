import { readStatements } from '../../migrations.ts'
import { fromSqlite } from './from-sqlite.ts'
import { ofAccount, ofProject, secure } from './row-security.ts'

/** Accounts, their projects, the API keys of projects, and the moves of accounts between databases. */
export const statements: readonly string[] = [
  ...fromSqlite('001-tenancy'),
  ...readStatements(new URL('tenancy.sql', import.meta.url)),
  ...secure(ofAccount, 'accounts', 'projects'),
  ...secure(ofProject, 'keys'),
  ...secure(ofAccount, 'accountMoves'),
]
