import type { Generated, Kysely } from 'kysely'
import type { DecisionColumns } from '../lib/observability/call-decision.ts'
import type * as consoleRows from './console-schema.ts'
import type * as galleryRows from './gallery-schema.ts'
import type { SwitchColumns } from './tenancy/switches.ts'
import type { VectorsSchema } from './vectors-schema.ts'
import type * as systemRows from './system-schema.ts'
import type * as webhookRows from './webhooks-schema.ts'

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
  watermarks: WatermarkRow
  galleries: galleryRows.GalleryRow
  galleryKeys: galleryRows.GalleryKeyRow
  masterKeys: Pick<galleryRows.GalleryKeyRow, 'masterKeyId'>
  certificateKeys: galleryRows.CertificateKeyRow
  galleryCalibrations: galleryRows.GalleryCalibrationRow
  subjects: galleryRows.SubjectRow & galleryRows.SubjectKeyFlag & galleryRows.SubjectSearchText
  distinctSubjects: galleryRows.DistinctSubjectsRow
  subjectMerges: galleryRows.SubjectMergeRow
  matchedSubjects: galleryRows.MatchedSubjectRow
  matchVerdicts: galleryRows.StoredMatchRow
  nearMissCrops: galleryRows.NearMissCropRow
  matchDays: galleryRows.MatchDayRow
  faces: galleryRows.FaceRow
  templates: galleryRows.TemplateRow
  galleryPages: galleryRows.GalleryPageRow
  crops: galleryRows.CropRow
  subjectGroups: galleryRows.SubjectGroupRow
  subjectAttributes: galleryRows.SubjectAttributeRow
  removals: galleryRows.RemovalRow
  deletions: galleryRows.DeletionRow
  chainHeads: galleryRows.ChainHeadRow
  responseSubjects: ResponseSubjectRow
  livenessSessions: LivenessSessionRow
  livenessFrames: LivenessFrameRow
  livenessChallenges: LivenessChallengeRow
  users: consoleRows.UserRow
  sessions: consoleRows.SessionRow
  links: consoleRows.LinkRow
  secondFactors: consoleRows.SecondFactorRow
  recoveryCodes: consoleRows.RecoveryCodeRow
  auditLog: consoleRows.AuditLogRow
  callHours: consoleRows.CallHourRow
  scoreHours: consoleRows.ScoreHourRow
  webhooks: webhookRows.WebhookRow
  webhookSecrets: webhookRows.WebhookSecretRow
  webhookDeliveries: webhookRows.WebhookDeliveryRow
  systemServers: systemRows.SystemServerRow
  systemSamples: systemRows.SystemSampleRow
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
  /** Visitors not seen for that many days are deleted, also after `unknownPeople` was switched off. */
  readonly visitorRetentionDays: Generated<number>
  /** How long crops of near misses are kept, if `nearMissCrops` is on. */
  readonly nearMissHours: Generated<number>
  /** The minimum similarity of a match of svc.identify; null: it depends on the gallery's size. */
  readonly identifyThreshold: Generated<number | null>
  /** Origins of pages that may send frames of liveness sessions, separated by spaces; empty: none. */
  readonly livenessOrigins: Generated<string>
  /** The number of its webhooks that receive events about faces. */
  readonly matchWebhooks: Generated<number>
  /** 1: the account is moved to another database, on PostgreSQL; calls and changes return 503. */
  readonly isFrozen: Generated<0 | 1>
  /** Set for a deleted project. Only history refers to it. */
  readonly deletedAtUtc: Generated<string | null>
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
  /** The last notice of its expiry, in days before it; null: none. */
  readonly expiryNoticeDays: Generated<number | null>
  /** The last rotation of its secret; null: none. */
  readonly rotatedAtUtc: Generated<string | null>
  /** SHA-256 of the secret before the last rotation; it is valid until `formerEndsAtUtc`. */
  readonly formerHash: Generated<Uint8Array | null>
  readonly formerLast4: Generated<string | null>
  readonly formerEndsAtUtc: Generated<string | null>
  /** The last use of the former secret since the rotation; null: none. */
  readonly formerLastUsedAtUtc: Generated<string | null>
  /** When `cameraChanges` were found; 0: never. */
  readonly cameraChangesAtMs: Generated<number>
  /** JSON of the last `MeasuredChange`s of its calls. */
  readonly cameraChanges: Generated<string | null>
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
  /** For a budget: the balance at which the event `budget.low` is due; null: it is not due. */
  readonly lowAtMicros: Generated<bigint | null>
  /** The same for `budget.exhausted`. */
  readonly exhaustedAtMicros: Generated<bigint | null>
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
  /** Null while the call runs, and once it was dropped at the limit of stored bytes. */
  readonly response: Uint8Array | null
  /** The encrypted replacement of `response` for the case that a subject in it is deleted. */
  readonly scrubbed: Uint8Array | null
}

/** A row of the request log. */
export type CallRow = DecisionColumns & {
  readonly callId: Generated<number>
  readonly atMs: number
  readonly keyId: string
  readonly projectId: string
  readonly requestId: string
  readonly action: string
  /** `OK`, a code of the error table, `HTTP_<status>` or `EXPIRED`. */
  readonly code: string
  readonly latencyMs: number
  /** The charged amount. */
  readonly costMicros: bigint
  /** The price of a call that was not charged, because the project's billing was off. */
  readonly meteredMicros: bigint
  readonly isReplay: 0 | 1
  /** The charge, if the call was billed. */
  readonly transferId: number | null
  /** Why the call failed, as JSON; null for successes. */
  readonly detail: string | null
}

/** A row to add to the request log. */
export type NewCallRow = Omit<CallRow, 'callId' | 'detail' | keyof DecisionColumns> &
  Partial<DecisionColumns> & { readonly detail?: string | null }

export type WatermarkRow = { readonly name: 'callsSweptBefore'; readonly valueMs: number }

/** A stored response that names a subject. */
export type ResponseSubjectRow = {
  readonly subjectId: string
  readonly projectId: string
  readonly requestId: string
}

/** A session to prove liveness, with up to three attempts. */
export type LivenessSessionRow = {
  readonly sessionId: string
  readonly projectId: string
  /** The key that created it, and with which the browser's frames are judged. */
  readonly keyId: string
  readonly requestId: string | null
  readonly stepCount: number
  /** Whether each step has a requested angle. */
  readonly requireAngles: 0 | 1
  readonly state: Generated<'open' | 'passed' | 'failed'>
  readonly attemptsLeft: number
  /** How many requests its token may still send. */
  readonly requestsLeft: number
  /** The secret of the session, wrapped with the master key. */
  readonly masterKeyId: string
  readonly wrapped: Uint8Array
  /** The result of the last attempt, as JSON; null before the first. */
  readonly result: Generated<string | null>
  /** The row is deleted then. */
  readonly expiresAtMs: number
}

/** The reference frame of a passed session that no call has used. */
export type LivenessFrameRow = Pick<
  LivenessSessionRow,
  'sessionId' | 'projectId' | 'expiresAtMs'
> & {
  /** Of the ciphertext. */
  readonly bytes: number
  /** Encrypted with a key derived from the secret of the session. */
  readonly frame: Uint8Array
}

/** The challenge of one attempt. It is kept for a minute after its expiry, to count failures. */
export type LivenessChallengeRow = {
  readonly challengeId: string
  readonly sessionId: string
  readonly projectId: string
  /** JSON: the requested steps and their angles, in their order. */
  readonly steps: string
  readonly expiresAtMs: number
  /** The time at which a call was judged by it; null: it is open or has expired. */
  readonly spentAtMs: Generated<number | null>
  /** 1: that call did not prove liveness. */
  readonly failed: Generated<0 | 1>
}
