import { prepare, type QueryRunner } from '../postgres/connection/statement.ts'
import { quoteLiteral } from '../postgres/connection/values.ts'
import type { OwnerColumn } from '../sqlite-to-postgres/tables.ts'

/** The values of these columns that belong to one account. */
export type AccountIds = Readonly<Record<OwnerColumn, readonly string[]>>

/** Returns the SQL condition that a row belongs to the account; undefined: it has no such rows. */
export function ownedBy(ids: AccountIds, column: OwnerColumn, row = ''): string | undefined {
  const values = ids[column]
  if (values.length === 0) return undefined
  return `${row}"${column}" = any (array[${values.map(quoteLiteral).join(', ')}]::text[])`
}

const selectIds = prepare<AccountIds>(
  `select array[:accountId::text] as "accountId",
     array(select "projectId" from projects where "accountId" = :accountId order by 1)
       as "projectId",
     array(select "galleryId" from galleries where "accountId" = :accountId order by 1)
       as "galleryId",
     array(select ledger from ledgers where "accountId" = :accountId order by 1) as chain,
     array(select "userId" from users where "accountId" = :accountId order by 1) as "userId",
     array(select "webhookId" from webhooks join projects using ("projectId")
       where "accountId" = :accountId order by 1) as "webhookId"`,
)

export async function readAccountIds(on: QueryRunner, accountId: string): Promise<AccountIds> {
  const ids = await selectIds.first(on, { accountId })
  if (!ids) throw new Error('the database returned no ids')
  return ids
}
