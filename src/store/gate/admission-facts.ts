import type { Selectable } from 'kysely'
import type { RateLimits, TokenBucketResult } from '../../lib/limits/token-bucket.ts'
import type { Micros } from '../../lib/money.ts'
import type { AttemptRow, KeyRow, LedgerRow, ProjectRow } from '../schema.ts'
import { parsePermissions } from '../tenancy/keys.ts'
import type { AttemptKey } from './statements.ts'

/** What the admission of a call depends on, apart from the facts in the database. */
export type AdmissionInput = CallKey &
  AccessRequest &
  AdmissionSettings &
  Now & {
    /** The call is admitted only if the key and its project still have this version; null: any. */
    readonly keyVersion: string | null
    /** The price, in units. */
    readonly units: number
    readonly fingerprint: Uint8Array
    /** Only the owner of this token may settle the reservation. */
    readonly token: string
    /** The key must have all of these to receive a stored response; a new call requires them itself. */
    readonly replayPermissions: readonly string[]
  }

/** A call as the statements of its admission identify it. */
export type CallKey = AttemptKey & { readonly keyId: string; readonly action: string }

export type AccessRequest = Pick<AdmissionSettings, 'limits'> & {
  /** The end of the former secret that the caller has sent; null: it has sent the current one. */
  readonly formerEndsAtUtc: string | null
  /** The key must have all of these. */
  readonly permissions: readonly string[]
  /** The token that a waiting retry consumed at its first try: it pays only once. */
  readonly consumedTokens: TokenBucketResult | undefined
}

export type AdmissionSettings = {
  /** Limits and price for projects and accounts without individual ones. */
  readonly limits: RateLimits
  readonly unitMicros: Micros
  /** A call that takes longer expires; its retry runs again. */
  readonly attemptMsMax: number
  /** How long responses are kept for replays. */
  readonly windowMs: number
}

export type Now = {
  /** By the wall clock. */
  readonly nowMs: number
  /** By the steady clock. */
  readonly steadyUs: number
}

/** All facts that admission depends on, as one transaction reads them. */
export type AdmissionFacts = {
  readonly key: KeyFacts
  /** The time at which the project's bucket is full again, by the steady clock. */
  readonly fullAtUs: number
  readonly budget: BudgetState
  /** The stored attempt with the same requestId. */
  readonly attempt: AttemptRow | undefined
}

/** A key, its project, and the account's price of one unit of the action; null: the default price. */
export type KeyFacts = Pick<Selectable<KeyRow>, 'expiresAtUtc' | 'revokedAtUtc' | 'lastUsedAtUtc'> &
  Pick<Selectable<ProjectRow>, 'sustainedPerS' | 'burst' | 'billing'> & {
    readonly permissions: readonly string[]
    readonly unitMicros: bigint | null
  }

/** The columns of `KeyFacts` and the bucket of the project, as they are stored. */
export type KeyFactsRow = Omit<KeyFacts, 'permissions'> &
  Pick<Selectable<KeyRow>, 'permissions'> &
  Pick<AdmissionFacts, 'fullAtUs'>

/** The budget of a project within a transaction. */
export type BudgetState = Pick<
  Selectable<LedgerRow>,
  'balanceMicros' | 'reservedMicros' | 'headSeq' | 'headHash' | 'lowAtMicros' | 'exhaustedAtMicros'
>

type FoundFacts = {
  readonly key: KeyFactsRow | undefined
  readonly budget: BudgetState | undefined
  readonly attempt: AttemptRow | undefined
}

/** Every project has a bucket and a budget. @returns undefined if the key is unknown. */
export function admissionFactsOf({ key, budget, attempt }: FoundFacts): AdmissionFacts | undefined {
  if (!key || !budget) return undefined
  const { fullAtUs } = key
  return {
    key: { ...key, permissions: parsePermissions(key.permissions) },
    fullAtUs,
    budget,
    attempt,
  }
}
