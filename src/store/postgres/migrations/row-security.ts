/** The account scope of a transaction; `*` means all accounts. Without a scope no row is visible. */
const scope = `(select current_setting('facegate.account', true))`

/** A hash of the ids: an array is compared id by id for each row, and an account can have hundreds. */
const ownIds = (column: string, table: string, isOwn: string): string =>
  `${column} in (select ${column} from ${table} where ${isOwn})`

/** Conditions that a row belongs to the account of the scope. */
export const ofAccount = `"accountId" = ${scope}`
export const ofProject = ownIds('"projectId"', 'projects', ofAccount)
export const ofGallery = ownIds('"galleryId"', 'galleries', ofAccount)
export const ofUser = ownIds('"userId"', 'users', ofAccount)
export const ofWebhook = ownIds('"webhookId"', 'webhooks', ofProject)
export const ofChain = `chain in (select ledger from ledgers where ${ofAccount})`

/**
 * Returns the row-level security of tables, in addition to the account conditions of the queries: a
 * transaction reads and writes only rows of the account in its scope. It applies to the owner of the
 * tables, too, but not to superusers.
 */
export function secure(isOwn: string, ...tables: readonly string[]): readonly string[] {
  return tables.flatMap((table) => [
    `alter table "${table}" enable row level security`,
    `alter table "${table}" force row level security`,
    `create policy "${table}_of_account" on "${table}" using (${scope} = '*' or ${isOwn})`,
  ])
}
