import type { Generated } from 'kysely'
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
 * The tables as TypeScript sees them. Ids are UUIDs; times are ISO 8601 UTC text (`Utc`), or
 * milliseconds since 1970 (`Ms`) where many rows are compared by them; money (`Micros`) is a bigint.
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
  subjects: SubjectRow
  faces: FaceRow
  templates: TemplateRow
  crops: CropRow
  subjectGroups: SubjectGroupRow
  removals: RemovalRow
  deletions: DeletionRow
  answerSubjects: AnswerSubjectRow
  users: UserRow
  sessions: SessionRow
  links: LinkRow
  adminActs: AdminActRow
  callHours: CallHourRow
  scoreHours: ScoreHourRow
}

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
  /** Requests per second in the long run and at once; null: as configured for all. */
  readonly sustainedPerS: Generated<number | null>
  readonly burst: Generated<number | null>
  /** Subjects that were not seen for so long are deleted; null: as configured for all. */
  readonly retentionDays: Generated<number | null>
  /** The similarity from which svc.identify names people; null: by the size of the gallery. */
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
  /** 1: the console's own key of the project, which nobody holds and no list shows. */
  readonly isHidden: Generated<0 | 1>
}

/** What one price unit of an action costs an account that does not pay the default. */
export type PriceRow = {
  readonly accountId: string
  readonly action: string
  readonly unitMicros: bigint
}

/** A stored balance: `wallet:<accountId>` or `budget:<projectId>`, and the head of its hash chain. */
export type LedgerRow = {
  readonly ledger: string
  readonly accountId: string
  readonly balanceMicros: Generated<bigint>
  /** The part of the balance that running calls have set aside. */
  readonly reservedMicros: Generated<bigint>
  readonly headSeq: Generated<number>
  /** SHA-256, 32 bytes; zeros before the first transfer. */
  readonly headHash: Generated<Uint8Array>
}

/** One movement of money, for ever. Further ledgers: `external` and `revenue:<action>`. */
export type TransferRow = {
  readonly transferId: Generated<number>
  /** The ledger in whose hash chain the transfer stands, at place `seq`, counted from 1. */
  readonly chain: string
  readonly seq: number
  readonly kind: 'topUp' | 'allocate' | 'charge'
  readonly fromLedger: string
  readonly toLedger: string
  readonly amountMicros: bigint
  readonly atMs: number
  readonly projectId: string | null
  /** Of a charge: the call that is paid, its id in lower case. */
  readonly requestId: string | null
  readonly windowStartMs: number | null
  /** SHA-256 of the hash before it in the chain and this row. */
  readonly rowHash: Uint8Array
}

/** One side of a transfer; the sides of every transfer sum to 0. */
export type PostingRow = {
  readonly transferId: number
  readonly ledger: string
  readonly amountMicros: bigint
}

/** The rate limit of a project: when its bucket will be full again, by the steady clock. */
export type BucketRow = { readonly projectId: string; readonly fullAtUs: number }

/** The one attempt at a request that counts, and its answer once there is one. */
export type AttemptRow = {
  readonly projectId: string
  /** In lower case: two spellings of a UUID are one request. */
  readonly requestId: string
  readonly keyId: string
  readonly action: string
  readonly fingerprint: Uint8Array
  readonly state: 'running' | 'done'
  /** Who may settle: an attempt that was given up finds another token here, or none. */
  readonly token: string
  readonly reservedMicros: bigint
  /** By the steady clock. */
  readonly deadlineMs: number
  readonly windowStartMs: number
  /** How it ended, as the request log says it. */
  readonly code: string | null
  readonly answer: Uint8Array | null
  /** What takes the place of `answer` when a subject that it names is deleted, sealed as it is. */
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
  /** `OK`, or why not: a code of the error table, `HTTP_<status>` or `EXPIRED`. */
  readonly code: string
  readonly latencyMs: number
  readonly costMicros: bigint
  readonly isReplay: 0 | 1
  /** The charge, if the call was billed. */
  readonly transferId: number | null
}

export type MarkRow = { readonly name: 'callsSweptBefore'; readonly valueMs: number }

/** A set of subjects that are searched together: a project's own, or an account's shared one. */
export type GalleryRow = {
  /** The id of the project, or of the account. */
  readonly galleryId: string
  readonly accountId: string
  /** Number of its last change; each transaction that changes templates takes the next. */
  readonly sequence: Generated<number>
  readonly subjectCount: Generated<number>
  /** Faces: a second template of a face, by another model, is not counted again. */
  readonly templateCount: Generated<number>
}

/** A key that wraps keys of subjects; itself wrapped by the master key, which is not in here. */
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
  /** The project that enrolled it; its retention holds. */
  readonly projectId: string
  readonly externalId: string | null
  readonly displayName: string | null
  /** The caller's own JSON object. */
  readonly attributes: string
  /** The gallery's key that wraps this subject's. */
  readonly keyId: string
  readonly wrappedKey: Uint8Array
  readonly createdAtUtc: string
  readonly updatedAtUtc: string
  readonly expiresAtUtc: string | null
  /** When it was last enrolled or matched, to the day. */
  readonly lastSeenAtUtc: string
}

/** What is remembered of one picture of a subject. */
export type FaceRow = {
  readonly faceId: string
  readonly subjectId: string
  readonly galleryId: string
  /** The gallery's change that it, its templates or its subject's groups last had part in. */
  readonly sequence: number
  readonly qualityScore: number
  readonly createdAtUtc: string
}

/** A face as one model describes it; a face may have one of each model. */
export type TemplateRow = {
  readonly faceId: string
  /** The gallery of the face. */
  readonly galleryId: string
  readonly modelId: string
  /** Encrypted under the subject's key. */
  readonly sealed: Uint8Array
}

/** The picture of a face, for projects that have it stored. */
export type CropRow = {
  readonly faceId: string
  /** The project that had it stored. */
  readonly projectId: string
  /** A JPEG, encrypted under the subject's key. */
  readonly sealed: Uint8Array
}

export type SubjectGroupRow = {
  readonly galleryId: string
  readonly name: string
  readonly subjectId: string
}

/** A face that is no more, for copies of the gallery in memory to follow. */
export type RemovalRow = {
  readonly galleryId: string
  readonly sequence: number
  readonly faceId: string
}

/** The deletion record of a subject and its place in the account's hash chain, for ever. */
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
  /** SHA-256 of the hash before it of the same account, and this row. */
  readonly rowHash: Uint8Array
}

/** A stored answer that names a subject. */
export type AnswerSubjectRow = {
  readonly subjectId: string
  readonly projectId: string
  readonly requestId: string
}
