import type { Migration } from 'kysely'
import { accounts } from './0001-accounts.ts'
import { calls } from './0002-calls.ts'
import { guards } from './0003-guards.ts'
import { functions } from './0004-functions.ts'
import { nodes } from './0005-nodes.ts'

/** In their order; kysely remembers which a database has had. Later ones only ever add. */
export const migrations: Readonly<Record<string, Migration>> = {
  '0001-accounts': accounts,
  '0002-calls': calls,
  '0003-guards': guards,
  '0004-functions': functions,
  '0005-nodes': nodes,
}
