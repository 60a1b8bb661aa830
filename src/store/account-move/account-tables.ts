import { prepare, type QueryRunner } from '../postgres/connection/statement.ts'
import { quoteLiteral } from '../postgres/connection/values.ts'
import type { Schema } from '../schema.ts'
import { migratedTables, type MigratedTable } from '../sqlite-to-postgres/migrated-tables.ts'
import type { VectorsSchema } from '../vectors-schema.ts'

/** A column by which a row belongs to an account. */
type OwnerColumn =
  | 'accountId'
  | 'tenantId'
  | 'projectId'
  | 'galleryId'
  | 'chain'
  | 'userId'
  | 'webhookId'

/** The values of these columns that belong to one account. */
export type AccountIds = Readonly<Record<OwnerColumn, readonly string[]>>

type SchemaTable = Exclude<keyof Schema, 'ledgerPostings' | keyof VectorsSchema>

/** A row that nothing may change; or a row that housekeeping of all accounts may try to delete. */
type FrozenDelete = 'refuse' | 'skip'

type Ownership = {
  readonly column: OwnerColumn
  readonly onDelete: FrozenDelete
  /** Whether the rows are copied. Others live for minutes, or are created again. */
  readonly isMoved: boolean
}

const kept = (column: OwnerColumn): Ownership => ({ column, onDelete: 'refuse', isMoved: true })
const swept = (column: OwnerColumn): Ownership => ({ column, onDelete: 'skip', isMoved: true })
const notMoved = (column: OwnerColumn): Ownership => ({
  column,
  onDelete: 'skip',
  isMoved: false,
})

/** The type requires an entry for every table of the schema; null: it has no data of accounts. */
const ownership: Readonly<Record<SchemaTable, Ownership | null>> = {
  accounts: kept('accountId'),
  projects: kept('accountId'),
  keys: kept('projectId'),
  prices: kept('accountId'),
  ledgers: kept('accountId'),
  ledgerTransfers: kept('chain'),
  // A trigger creates the bucket of each project.
  buckets: notMoved('projectId'),
  galleries: kept('accountId'),
  galleryKeys: kept('galleryId'),
  galleryCalibrations: kept('galleryId'),
  subjects: kept('galleryId'),
  subjectGroups: kept('galleryId'),
  subjectAttributes: kept('galleryId'),
  faces: kept('galleryId'),
  templates: kept('galleryId'),
  // The next load of the gallery writes them again.
  galleryPages: notMoved('galleryId'),
  crops: kept('projectId'),
  removals: swept('galleryId'),
  deletions: kept('tenantId'),
  attempts: swept('projectId'),
  answerSubjects: swept('projectId'),
  calls: swept('projectId'),
  callHours: swept('projectId'),
  scoreHours: swept('projectId'),
  users: kept('accountId'),
  // Cookies are bound to the host name of an installation.
  sessions: notMoved('userId'),
  links: notMoved('userId'),
  secondFactors: kept('userId'),
  recoveryCodes: kept('userId'),
  adminActs: kept('accountId'),
  chainHeads: kept('accountId'),
  webhooks: kept('projectId'),
  webhookSecrets: kept('webhookId'),
  webhookDeliveries: swept('projectId'),
  livenessChallenges: notMoved('projectId'),
  livenessTokens: notMoved('projectId'),
  marks: null,
  systemServers: null,
  systemSamples: null,
}

export type AccountTable = Ownership & { readonly name: string }

/** All tables with data of accounts. */
export const accountTables: readonly AccountTable[] = Object.entries(ownership).flatMap(
  ([name, owned]) => (owned ? [{ name, ...owned }] : []),
)

export type MovedTable = MigratedTable & Ownership

/** The copied tables, each after those that it references. */
export const movedTables: readonly MovedTable[] = migratedTables.flatMap((table) => {
  const owned = ownership[table.name]
  return owned?.isMoved ? [{ ...table, ...owned }] : []
})

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
    tenantId: [accountId],
    projectId: await selectIds.projectId(on, accountId),
    galleryId: await selectIds.galleryId(on, accountId),
    chain: await selectIds.chain(on, accountId),
    userId: await selectIds.userId(on, accountId),
    webhookId: await selectIds.webhookId(on, accountId),
  }
}
