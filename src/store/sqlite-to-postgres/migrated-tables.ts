import type { Schema } from '../schema.ts'
import type { VectorsSchema } from '../vectors-schema.ts'

/**
 * Rows that live for minutes or a day. They are not migrated: a client requests a new challenge, and
 * a server on the new database starts a new history.
 */
type ShortLivedTable = 'livenessChallenges' | 'livenessTokens' | 'systemServers' | 'systemSamples'

/** Copies of other rows, which are not migrated: the first load of a gallery writes its pages again. */
type CopyTable = 'galleryPages'

/** A migrated table. `ledgerPostings` is a view, and vectors are computed from templates. */
export type TableName = Exclude<
  keyof Schema,
  'ledgerPostings' | keyof VectorsSchema | ShortLivedTable | CopyTable
>

export type MigratedTable = {
  readonly name: TableName
  /** The primary key in SQLite. Rows are read in its order. */
  readonly key: readonly string[]
  /** The primary key in PostgreSQL, which has more columns in some tables. */
  readonly targetKey: readonly string[]
  /** The number of rows in one transaction. */
  readonly batchRows: number
  /** The column with generated numbers, and its sequence in PostgreSQL. */
  readonly identity?: IdentityColumn
  /** Whether triggers of the tables before it add rows, which the rows of the source replace. */
  readonly isFilledByTriggers?: boolean
}

type IdentityColumn = { readonly column: string; readonly sequence: string }

const batchRowsDefault = 2000

/** For rows with large encrypted values: crops and responses. */
const batchRowsLarge = 200

/**
 * The primary keys of all tables, each table after those that it references. The type requires an
 * entry for every table of the schema.
 */
const keys: Readonly<Record<TableName, readonly string[]>> = {
  accounts: ['accountId'],
  projects: ['projectId'],
  keys: ['keyId'],
  prices: ['accountId', 'action'],
  ledgers: ['ledger'],
  ledgerTransfers: ['transferId'],
  buckets: ['projectId'],
  galleries: ['galleryId'],
  galleryKeys: ['keyId'],
  galleryCalibrations: ['calibrationId'],
  subjects: ['subjectId'],
  subjectGroups: ['galleryId', 'name', 'subjectId'],
  subjectAttributes: ['galleryId', 'name', 'value', 'subjectId'],
  faces: ['faceId'],
  templates: ['faceId', 'modelId'],
  crops: ['faceId'],
  removals: ['galleryId', 'sequence', 'faceId'],
  deletions: ['seq'],
  attempts: ['projectId', 'requestId'],
  answerSubjects: ['subjectId', 'projectId', 'requestId'],
  calls: ['callId'],
  marks: ['name'],
  users: ['userId'],
  sessions: ['tokenHash'],
  links: ['tokenHash'],
  secondFactors: ['userId'],
  recoveryCodes: ['userId', 'codeHash'],
  adminActs: ['auditId'],
  chainHeads: ['chain', 'accountId'],
  callHours: ['hourMs', 'projectId', 'keyId', 'action', 'code'],
  scoreHours: ['projectId', 'kind', 'hourMs', 'bin'],
  webhooks: ['webhookId'],
  webhookSecrets: ['secretId'],
  webhookDeliveries: ['eventId', 'webhookId'],
}

const overrides: Partial<Record<TableName, Partial<MigratedTable>>> = {
  ledgerTransfers: { identity: identityColumn('ledgerTransfers', 'transferId') },
  templates: { targetKey: ['galleryId', 'faceId', 'modelId'], batchRows: 500 },
  crops: { batchRows: batchRowsLarge },
  deletions: { identity: identityColumn('deletions', 'seq') },
  attempts: { batchRows: batchRowsLarge },
  calls: {
    targetKey: ['callId', 'atMs'],
    identity: { column: 'callId', sequence: `'"callIds"'::regclass` },
  },
  adminActs: { identity: identityColumn('adminActs', 'auditId') },
  chainHeads: { isFilledByTriggers: true },
  subjectAttributes: { isFilledByTriggers: true },
  webhookDeliveries: { batchRows: batchRowsLarge },
}

/** All tables in the order in which they are filled. */
export const migratedTables: readonly MigratedTable[] = Object.entries(keys).map(([name, key]) => ({
  // The names are the keys of the typed record.
  name: name as TableName,
  key,
  targetKey: key,
  batchRows: batchRowsDefault,
  ...overrides[name as TableName],
}))

function identityColumn(table: TableName, column: string): IdentityColumn {
  return { column, sequence: `pg_get_serial_sequence('"${table}"', '${column}')` }
}
