import type { Generated, Kysely } from 'kysely'
import type {
  AdminActRow,
  CallHourRow,
  LinkRow,
  ScoreHourRow,
  SessionRow,
  UserRow,
} from './console-schema.ts'
import type { SwitchColumns } from './tenancy/switches.ts'
import type { VectorsSchema } from './vectors-schema.ts'

/**
 * The types of the tables' rows. Ids are UUIDs. Times are ISO 8601 UTC text (`Utc`), or milliseconds
 * since 1970 (`Ms`) where many rows are compared by them. Money (`Micros`) is a bigint.
 */
export type Schema = VectorsSchema & {
  accounts: AccountRow
  projects: ProjectRow
  keys: KeyRow
  prices: PriceRow
  ledgers: LedgerRow
  ledgerTransfers: TransferRow
  ledgerPostings: PostingRow
  buckets: BucketRow
  attempts: AttemptRow
  calls: CallRow
  marks: MarkRow
  galleries: GalleryRow
  galleryKeys: GalleryKeyRow
  subjects: SubjectRow & SubjectKeyMark & SubjectSearchText
  faces: FaceRow
  templates: TemplateRow
  crops: CropRow
  subjectGroups: SubjectGroupRow
  removals: RemovalRow
  deletions: DeletionRow
  chainHeads: ChainHeadRow
  answerSubjects: AnswerSubjectRow
  users: UserRow
  sessions: SessionRow
  links: LinkRow
  adminActs: AdminActRow
  callHours: CallHourRow
  scoreHours: ScoreHourRow
}

/** Typed queries of the tables. */
export type Database = Kysely<Schema>

export type AccountRow = {
  readonly accountId: string
  readonly name: string
  readonly createdAtUtc: string
}

export type ProjectRow = {
  readonly projectId: string
  readonly accountId: string
  readonly name: string
  readonly galleryMode: 'isolated' | 'shared'
  readonly createdAtUtc: string
  /** Sustained requests per second, and the burst; null: the server's setting. */
  readonly sustainedPerS: Generated<number | null>
  readonly burst: Generated<number | null>
  /** Subjects not matched for that many days are deleted; null: the server's setting. */
  readonly retentionDays: Generated<number | null>
  /** The minimum similarity of a match of svc.identify; null: it depends on the gallery's size. */
  readonly identifyThreshold: Generated<number | null>
} & { readonly [name in keyof SwitchColumns]: Generated<SwitchColumns[name]> }

export type KeyRow = {
  readonly keyId: string
  readonly projectId: string
  readonly name: string
  /** `fsk_live_` or `fsk_test_`. */
  readonly prefix: string
  readonly last4: string
  /** SHA-256 of the key, 32 bytes. */
  readonly hash: Uint8Array
  /** JSON array of permissions; `["*"]` is all. */
  readonly permissions: string
  readonly createdAtUtc: string
  readonly expiresAtUtc: string | null
  readonly revokedAtUtc: Generated<string | null>
  readonly lastUsedAtUtc: Generated<string | null>
  /** 1: the console's key for the project's playground, which no list shows. */
  readonly isHidden: Generated<0 | 1>
}

/** An account's price of one unit of an action, instead of the default. */
export type PriceRow = {
  readonly accountId: string
  readonly action: string
  readonly unitMicros: bigint
}

/** The balance of `wallet:<accountId>` or `budget:<projectId>`, and the head of its hash chain. */
export type LedgerRow = {
  readonly ledger: string
  readonly accountId: string
  readonly balanceMicros: Generated<bigint>
  /** The part of the balance that running calls have reserved. */
  readonly reservedMicros: Generated<bigint>
  readonly headSeq: Generated<number>
  /** SHA-256, 32 bytes; zeros before the first transfer. */
  readonly headHash: Generated<Uint8Array>
}

/** A permanent transfer between ledgers. Further ledgers: `external` and `revenue:<action>`. */
export type TransferRow = {
  readonly transferId: Generated<number>
  /** The ledger whose hash chain contains the transfer, at position `seq`, counted from 1. */
  readonly chain: string
  readonly seq: number
  readonly kind: 'topUp' | 'allocate' | 'charge'
  readonly fromLedger: string
  readonly toLedger: string
  readonly amountMicros: bigint
  readonly atMs: number
  readonly projectId: string | null
  /** For a charge: the request id of the paid call, in lower case. */
  readonly requestId: string | null
  readonly windowStartMs: number | null
  /** SHA-256 of the chain's previous hash and this row. */
  readonly rowHash: Uint8Array
}

/** One side of a transfer; the two sides of a transfer sum to 0. */
export type PostingRow = {
  readonly transferId: number
  readonly ledger: string
  readonly amountMicros: bigint
}

/** The rate limit of a project: the time at which its bucket is full again, by the steady clock. */
export type BucketRow = { readonly projectId: string; readonly fullAtUs: number }

/** The current attempt at a request, and its response when it is complete. */
export type AttemptRow = {
  readonly projectId: string
  /** In lower case: two spellings of a UUID are one request. */
  readonly requestId: string
  readonly keyId: string
  readonly action: string
  readonly fingerprint: Uint8Array
  readonly state: 'running' | 'done'
  /** Only the call with this token may settle; a late result no longer matches it. */
  readonly token: string
  readonly reservedMicros: bigint
  /** By the steady clock. */
  readonly deadlineMs: number
  readonly windowStartMs: number
  /** The result code, as in the request log. */
  readonly code: string | null
  readonly answer: Uint8Array | null
  /** The encrypted replacement of `answer` for the case that a subject in it is deleted. */
  readonly scrubbed: Uint8Array | null
}

/** A row of the request log. */
export type CallRow = {
  readonly callId: Generated<number>
  readonly atMs: number
  readonly keyId: string
  readonly projectId: string
  readonly requestId: string
  readonly action: string
  /** `OK`, a code of the error table, `HTTP_<status>` or `EXPIRED`. */
  readonly code: string
  readonly latencyMs: number
  readonly costMicros: bigint
  readonly isReplay: 0 | 1
  /** The charge, if the call was billed. */
  readonly transferId: number | null
}

export type MarkRow = { readonly name: 'callsSweptBefore'; readonly valueMs: number }

/** A set of subjects that are searched together: one project's, or an account's shared gallery. */
export type GalleryRow = {
  /** The id of the project, or of the account. */
  readonly galleryId: string
  readonly accountId: string
  /** The number of the last change. Each transaction that changes templates increments it. */
  readonly sequence: Generated<number>
  readonly subjectCount: Generated<number>
  /** The number of faces; several templates of one face, by different models, count once. */
  readonly templateCount: Generated<number>
  /** Records of faces removed up to this change may have been deleted. A trigger maintains it. */
  readonly removalsDeletedTo: Generated<number>
}

/** A key that encrypts subject keys. The master key, which is not stored here, encrypts it. */
export type GalleryKeyRow = {
  readonly keyId: string
  readonly galleryId: string
  readonly masterKeyId: string
  readonly wrapped: Uint8Array
  readonly createdAtMs: number
}

export type SubjectRow = {
  readonly subjectId: string
  readonly galleryId: string
  /** The project that enrolled the subject; its retention applies. */
  readonly projectId: string
  readonly externalId: string | null
  readonly displayName: string | null
  /** A JSON object from the caller. */
  readonly attributes: string
  /** The gallery key that encrypts this subject's key. */
  readonly keyId: string
  readonly wrappedKey: Uint8Array
  readonly createdAtUtc: string
  readonly updatedAtUtc: string
  readonly expiresAtUtc: string | null
  /** The time of the last enrollment or match, updated at most once a day. */
  readonly lastSeenAtUtc: string
  /** 1: created without a face, and none was added since. Any other subject must have a face. */
  readonly withoutFaces: 0 | 1
}

/** Only key rotation reads this column of a subject. */
type SubjectKeyMark = {
  /** 1: data that was encrypted with the subject's key was deleted since the key was created. */
  readonly needsNewKey: Generated<0 | 1>
}

/** Only `store/gallery` writes this column of a subject, together with the names. */
type SubjectSearchText = {
  /** See `search-text.ts`. Null, only on PostgreSQL: it must be computed. */
  readonly searchText: Generated<string | null>
}

/** A stored face of a subject, from one image. */
export type FaceRow = {
  readonly faceId: string
  readonly subjectId: string
  readonly galleryId: string
  /** The gallery change that last affected the face, its templates or its subject's groups. */
  readonly sequence: number
  readonly qualityScore: number
  readonly createdAtUtc: string
}

/** The embedding of a face by one model; a face has at most one template of each model. */
export type TemplateRow = {
  readonly faceId: string
  /** The gallery of the face. */
  readonly galleryId: string
  readonly modelId: string
  /** Encrypted under the subject's key. */
  readonly sealed: Uint8Array
}

/** The stored crop of a face, for projects that store crops. */
export type CropRow = {
  readonly faceId: string
  /** The project that stored it. */
  readonly projectId: string
  /** A JPEG, encrypted under the subject's key. */
  readonly sealed: Uint8Array
}

export type SubjectGroupRow = {
  readonly galleryId: string
  readonly name: string
  readonly subjectId: string
}

/** A deleted face, so that copies of the gallery in memory can remove it. */
export type RemovalRow = {
  readonly galleryId: string
  readonly sequence: number
  readonly faceId: string
}

/** The permanent deletion record of a subject and its place in the account's hash chain. */
export type DeletionRow = {
  readonly seq: Generated<number>
  readonly deletionId: string
  readonly galleryId: string
  readonly tenantId: string
  readonly subjectId: string
  /** JSON array of names. */
  readonly groups: string
  readonly externalId: string | null
  readonly embeddingCount: number
  readonly deletedAtUtc: string
  /** SHA-256 of the account's previous hash and this row. */
  readonly rowHash: Uint8Array
}

/**
 * The last row of an account's hash chain. Triggers update it, also for rows that an
 * older server adds during a rolling upgrade.
 */
export type ChainHeadRow = {
  readonly chain: 'deletions' | 'adminActs'
  readonly accountId: string
  /** The number of rows that were added. */
  readonly headSeq: number
  readonly headHash: Uint8Array
}

/** A stored response that names a subject. */
export type AnswerSubjectRow = {
  readonly subjectId: string
  readonly projectId: string
  readonly requestId: string
}
