import type { Schema } from '../schema.ts'
import type { VectorsSchema } from '../vectors-schema.ts'

/** A table of the schema. `ledgerPostings` is a view, and vectors are computed from templates. */
export type TableName = Exclude<keyof Schema, 'ledgerPostings' | keyof VectorsSchema>

/** A column by which a row belongs to an account. */
export type OwnerColumn = 'accountId' | 'projectId' | 'galleryId' | 'chain' | 'userId' | 'webhookId'

export type Table = {
  readonly name: TableName
  /** The primary key in SQLite. Rows are read in its order. */
  readonly key: readonly string[]
  /** The primary key in PostgreSQL, which has more columns in some tables. */
  readonly targetKey: readonly string[]
  /** The number of rows in one transaction. */
  readonly batchRows: number
  /** The sequence in PostgreSQL of the generated numbers, which are the first column of the key. */
  readonly sequence?: string | undefined
  /** Whether triggers of the tables before it add rows, which the rows of the source replace. */
  readonly isFilledByTriggers?: boolean
  /**
   * Whether the rows are copied from SQLite to PostgreSQL. Others live for minutes or a day, or are
   * copies of other rows.
   */
  readonly isMigrated: boolean
  /** The column by which rows belong to an account; null: the table has no data of accounts. */
  readonly column: OwnerColumn | null
  /** Whether the rows are copied with their account. Others live for minutes, or are created again. */
  readonly isMoved: boolean
  /** Whether a deletion in a frozen account fails or, for housekeeping of all accounts, does nothing. */
  readonly onDelete: 'refuse' | 'skip'
}

type TableDescription = Pick<Table, 'column' | 'key'> & Partial<Omit<Table, 'name'>>

/** Rows with large encrypted values: crops and responses. */
const large = { batchRows: 200 } as const

/** The sequence that belongs to the column. */
const serial = { sequence: 'serial' } as const
/** Housekeeping of all accounts deletes old rows. */
const swept = { onDelete: 'skip' } as const
const notMoved = { onDelete: 'skip', isMoved: false } as const
const shortLived = { ...notMoved, isMigrated: false } as const

/**
 * All tables, each after those that it references. The type requires an entry for every table of the
 * schema.
 */
const descriptions: Readonly<Record<TableName, TableDescription>> = {
  accounts: { column: 'accountId', key: ['accountId'] },
  projects: { column: 'accountId', key: ['projectId'] },
  keys: { column: 'projectId', key: ['keyId'] },
  prices: { column: 'accountId', key: ['accountId', 'action'] },
  ledgers: { column: 'accountId', key: ['ledger'] },
  ledgerTransfers: { column: 'chain', key: ['transferId'], ...serial },
  buckets: { column: 'projectId', key: ['projectId'], isFilledByTriggers: true, ...notMoved },
  galleries: { column: 'accountId', key: ['galleryId'] },
  galleryKeys: { column: 'galleryId', key: ['keyId'] },
  masterKeys: { column: null, key: ['masterKeyId'] },
  certificateKeys: { column: 'accountId', key: ['accountId'] },
  galleryCalibrations: { column: 'galleryId', key: ['calibrationId'] },
  subjects: { column: 'galleryId', key: ['subjectId'] },
  subjectGroups: { column: 'galleryId', key: ['galleryId', 'name', 'subjectId'] },
  subjectAttributes: {
    column: 'galleryId',
    key: ['galleryId', 'name', 'value', 'subjectId'],
    isFilledByTriggers: true,
  },
  distinctSubjects: { column: 'galleryId', key: ['galleryId', 'subjectId', 'otherId'] },
  subjectMerges: { column: 'galleryId', key: ['mergeId'], ...swept },
  matchedSubjects: { column: 'galleryId', key: ['matchedId'] },
  matchVerdicts: { column: 'galleryId', key: ['verdictId'], ...swept },
  nearMissCrops: { column: 'projectId', key: ['cropId'], ...large, ...swept },
  matchDays: { column: 'projectId', key: ['subjectId', 'projectId', 'day'], ...swept },
  faces: { column: 'galleryId', key: ['faceId'] },
  templates: {
    column: 'galleryId',
    key: ['faceId', 'modelId'],
    targetKey: ['galleryId', 'faceId', 'modelId'],
    batchRows: 500,
  },
  crops: { column: 'projectId', key: ['faceId'], ...large },
  removals: { column: 'galleryId', key: ['galleryId', 'sequence', 'subjectId'], ...swept },
  deletions: { column: 'accountId', key: ['seq'], ...serial },
  attempts: { column: 'projectId', key: ['projectId', 'requestId'], ...large, ...swept },
  responseSubjects: { column: 'projectId', key: ['subjectId', 'projectId', 'requestId'], ...swept },
  calls: {
    column: 'projectId',
    key: ['callId'],
    targetKey: ['callId', 'atMs'],
    sequence: `'"callIds"'::regclass`,
    ...swept,
  },
  watermarks: { column: null, key: ['name'] },
  users: { column: 'accountId', key: ['userId'] },
  // Cookies are bound to the host name of an installation.
  sessions: { column: 'userId', key: ['tokenHash'], ...notMoved },
  links: { column: 'userId', key: ['tokenHash'], ...notMoved },
  secondFactors: { column: 'userId', key: ['userId'] },
  recoveryCodes: { column: 'userId', key: ['userId', 'codeHash'] },
  auditLog: { column: 'accountId', key: ['auditId'], ...serial },
  chainHeads: { column: 'accountId', key: ['chain', 'accountId'], isFilledByTriggers: true },
  callHours: {
    column: 'projectId',
    key: ['hourMs', 'projectId', 'keyId', 'action', 'code', 'outcome'],
    ...swept,
  },
  scoreHours: { column: 'projectId', key: ['projectId', 'kind', 'hourMs', 'bin'], ...swept },
  webhooks: { column: 'projectId', key: ['webhookId'] },
  webhookSecrets: { column: 'webhookId', key: ['secretId'] },
  webhookDeliveries: { column: 'projectId', key: ['eventId', 'webhookId'], ...large, ...swept },
  livenessSessions: { column: 'projectId', key: ['sessionId'], ...shortLived },
  livenessFrames: { column: 'projectId', key: ['sessionId'], ...shortLived },
  livenessChallenges: { column: 'projectId', key: ['challengeId'], ...shortLived },
  // The next load of a gallery writes its pages again.
  galleryPages: { column: 'galleryId', key: ['galleryId', 'toSequence'], ...shortLived },
  // A server on the new database starts a new history.
  systemServers: { column: null, key: ['server'], ...shortLived },
  systemSamples: { column: null, key: ['server', 'atMs'], ...shortLived },
}

/** All tables, each after those that it references. */
const tables: readonly Table[] = Object.entries(descriptions).map(([name, description]) => ({
  // The names are the keys of the typed record.
  name: name as TableName,
  targetKey: description.key,
  batchRows: 2000,
  isMigrated: true,
  isMoved: true,
  onDelete: 'refuse',
  ...description,
  sequence:
    description.sequence === serial.sequence
      ? `pg_get_serial_sequence('"${name}"', '${description.key[0]}')`
      : description.sequence,
}))

/** The tables that are copied from SQLite to PostgreSQL. */
export const migratedTables = tables.filter(({ isMigrated }) => isMigrated)

export type AccountTable = Table & { readonly column: OwnerColumn }

/** The tables with data of accounts. */
export const accountTables = tables.filter((table): table is AccountTable => table.column !== null)

/** The tables that are copied with an account to another database. */
export const movedTables = accountTables.filter(({ isMoved }) => isMoved)
