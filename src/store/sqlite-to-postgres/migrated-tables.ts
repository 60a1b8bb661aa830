import type { Schema } from '../schema.ts'
import type { VectorsSchema } from '../vectors-schema.ts'

/** A table that is moved; `ledgerPostings` is a view, and vectors are made of templates. */
export type TableName = Exclude<keyof Schema, 'ledgerPostings' | keyof VectorsSchema>

export type MigratedTable = {
  readonly name: TableName
  /** The primary key in SQLite: rows are taken in its order. */
  readonly key: readonly string[]
  /** The primary key in PostgreSQL, where it has more to it. */
  readonly targetKey: readonly string[]
  /** Rows of one transaction. */
  readonly batchRows: number
  /** The column whose numbers go on where they were, and what counts them in PostgreSQL. */
  readonly identity?: IdentityColumn
}

type IdentityColumn = { readonly column: string; readonly sequence: string }

const batchRowsDefault = 2000

/** Rows with sealed bytes in them, which may be pictures or whole answers. */
const batchRowsLarge = 200

/**
 * Every table, each after those that it refers to. A table that is new in the schema is missing here
 * until it is written down: the type says so.
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
  subjects: ['subjectId'],
  subjectGroups: ['galleryId', 'name', 'subjectId'],
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
  adminActs: ['auditId'],
  callHours: ['hourMs', 'projectId', 'keyId', 'action', 'code'],
  scoreHours: ['projectId', 'kind', 'hourMs', 'bin'],
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
}

/** In the order in which they are filled. */
export const migratedTables: readonly MigratedTable[] = Object.entries(keys).map(([name, key]) => ({
  // The entries are made from the record itself.
  name: name as TableName,
  key,
  targetKey: key,
  batchRows: batchRowsDefault,
  ...overrides[name as TableName],
}))

function identityColumn(table: TableName, column: string): IdentityColumn {
  return { column, sequence: `pg_get_serial_sequence('"${table}"', '${column}')` }
}
