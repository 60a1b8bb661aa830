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

const selectIds = {
  projectId: idsOf('select "projectId" as id from projects where "accountId" = :accountId'),
  galleryId: idsOf('select "galleryId" as id from galleries where "accountId" = :accountId'),
  chain: idsOf('select ledger as id from ledgers where "accountId" = :accountId'),
  userId: idsOf('select "userId" as id from users where "accountId" = :accountId'),
  webhookId: idsOf(
    `select "webhookId" as id from webhooks join projects using ("projectId")
     where "accountId" = :accountId`,
  ),
}

function idsOf(text: string) {
  const statement = prepare<{ readonly id: string }>(`${text} order by 1`)
  return async (on: QueryRunner, accountId: string) =>
    (await statement.all(on, { accountId })).map(({ id }) => id)
}

export async function readAccountIds(on: QueryRunner, accountId: string): Promise<AccountIds> {
  return {
    accountId: [accountId],
    projectId: await selectIds.projectId(on, accountId),
    galleryId: await selectIds.galleryId(on, accountId),
    chain: await selectIds.chain(on, accountId),
    userId: await selectIds.userId(on, accountId),
    webhookId: await selectIds.webhookId(on, accountId),
  }
}
