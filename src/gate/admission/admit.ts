import { ActionError, HttpError, unavailable } from '../../lib/errors.ts'
import { createKeyedQueue } from '../../lib/limits/keyed-queue.ts'
import { limitHeaders, takeToken, type TokenBucketResult } from '../../lib/limits/token-bucket.ts'
import { formatUtc } from '../../lib/clock.ts'
import type { Store, Tx } from '../../store/database.ts'
import type { AdmissionSettings, Now } from '../../store/gate/admission-facts.ts'
import {
  checkPermissions,
  checkTokens,
  lastUseIntervalMs,
  limitsOf,
  type AdmittedTerms,
} from '../../store/gate/admission-rule.ts'
import { recordFormerSecretUse } from '../../store/tenancy/key-changes.ts'
import type { KeyIdentity } from '../../store/tenancy/keys.ts'
import { readBucketState } from '../../store/tenancy/projects.ts'
import { accountIsMoved, apiKeyChallenge, unauthorizedMessages } from '../authenticate.ts'
import type {
  AdmittedCall,
  AuthenticatedCall,
  CallContent,
  ReceivedCall,
  UnreadableContent,
} from '../call-states.ts'
import { decryptResponse } from '../request-fingerprint.ts'
import { logCall, outcomeOfError } from '../log-call.ts'
import {
  accessRequestOf,
  admissionInputOf,
  createAdmitRequest,
  reservationOf,
  type AdmitRequest,
} from './admit-request.ts'
import {
  admitInTransaction,
  errorOf,
  rejectInTransaction,
  type AdmissionResult,
  type Rejected,
} from './admit-transaction.ts'
import type { InFlightCalls } from './in-flight.ts'

type LimitHeaders = { readonly headers: Readonly<Record<string, string>> }

/** Every response to the call gets the rate-limit headers. */
export type RejectedCall = LimitHeaders & { readonly kind: 'rejected'; readonly error: unknown }

/** The decision about a call. */
export type AdmitResult =
  | RejectedCall
  /** The stored response as it was first sent, as JSON. */
  | (LimitHeaders & { readonly kind: 'replay'; readonly response: string })
  | (LimitHeaders & { readonly kind: 'admitted'; readonly admitted: AdmittedCall })

export type AdmitOptions = AdmissionSettings & {
  readonly inFlight: InFlightCalls
  readonly inFlightWaitMsMax: number
  readonly now: () => Now
  readonly bearerKeys: boolean
}

/** The functions that decide about the calls of authenticated keys. */
export type Admission = ReturnType<typeof createAdmission>

export function createAdmission(store: Store, options: AdmitOptions) {
  const { inFlight, inFlightWaitMsMax, now } = options
  const runInTransaction = createProjectTransactions(store)

  /**
   * Makes the checks that follow authentication. While an earlier call with the same requestId runs, it
   * waits for that call and then tries again.
   *
   * @throws HttpError 401 when the key was revoked or its secret ended in the meantime, 503.
   */
  const admit = async (caller: KeyIdentity, received: ReceivedCall, content: CallContent) => {
    const call = await authenticatedCall(store, caller, received, now)
    const request = createAdmitRequest(call, content)
    const admitted = await admitNew(request)
    if (admitted) return admitted
    // The statement admits no call whose key or project has changed since it was read.
    const current = await refreshed(caller, options)
    const confirmed = await authenticatedCall(store, current, received, now)
    return admitByTransaction({ ...request, call: confirmed })
  }

  /** Admits a call that is no retry and passes every check. */
  const admitNew = async (request: AdmitRequest): Promise<AdmitResult | undefined> => {
    const terms = await store.admitCall(admissionInputOf(request, options, now()))
    return terms && admittedResult(request, terms, inFlight)
  }

  const admitByTransaction = async (request: AdmitRequest): Promise<AdmitResult> => {
    const { call } = request
    const waitUntilMs = performance.now() + inFlightWaitMsMax
    for (let consumedTokens: TokenBucketResult | undefined; ;) {
      const input = { ...admissionInputOf(request, options, now()), consumedTokens }
      const result = await runInTransaction(call, (tx) => admitInTransaction(tx, call, input, now))
      if (result.kind !== 'inFlight') return admitResult(request, result, options)
      consumedTokens = result.access.tokens
      const remainingMs = waitUntilMs - performance.now()
      if (remainingMs <= 0) return rejectAfterTimeout(store, call, consumedTokens)
      await inFlight.wait(scopeOf(request), remainingMs)
    }
  }

  /**
   * Rejects a call that could not be read: it is logged and consumes its rate-limit token. A failed
   * check that precedes the error in the order of the checks replaces it.
   */
  const reject = async (
    caller: KeyIdentity,
    received: ReceivedCall,
    { error, permissions = [] }: UnreadableContent,
  ) => {
    const current = await refreshed(caller, options)
    const call = await authenticatedCall(store, current, received, now)
    const request = accessRequestOf(call, permissions, options)
    const result = await runInTransaction(call, (tx) =>
      rejectInTransaction(tx, call, { error, request }, now),
    )
    if (result.kind === 'unauthorized') throw unauthorized(result.state, options)
    return rejectedResult(result)
  }

  return {
    admit,
    reject,
    /** Returns the error with which `admit` will reject a call whose body has not been read. */
    findEarlyRejection: (check: EarlyCheck) => findEarlyRejection(store, check, options),
  }
}

type RunInTransaction = <T>(call: AuthenticatedCall, job: (tx: Tx) => Promise<T>) => Promise<T>

/**
 * Transactions of one project wait for each other in a shared database, where each holds a connection.
 * They wait here instead.
 */
function createProjectTransactions(store: Store): RunInTransaction {
  const projectQueue = createKeyedQueue({
    waitingMax: 1000,
    detail: 'Too many calls of the project are waiting.',
  })
  return ({ caller: { projectId } }, job) => {
    const run = () => store.write(job)
    return store.isShared ? projectQueue(projectId, run) : run()
  }
}

/** Returns the caller as it is stored now. @throws HttpError 401, or 503 while its account is moved. */
async function refreshed(caller: KeyIdentity, options: AdmitOptions): Promise<KeyIdentity> {
  if (!caller.refresh) return caller
  const current = await caller.refresh(new Date(options.now().nowMs))
  if (current?.state !== 'active') throw unauthorized(current?.state ?? 'unknown', options)
  if (current.isFrozen === 1) throw accountIsMoved()
  return current
}

async function authenticatedCall(
  store: Store,
  caller: KeyIdentity,
  received: ReceivedCall,
  now: () => Now,
): Promise<AuthenticatedCall> {
  await recordFormerSecret(store, caller, now().nowMs)
  const elapsedMs = performance.now() - received.startMs
  return { ...received, caller, atMs: Math.round(now().nowMs - elapsedMs) }
}

/**
 * Stores the last use of a former secret, at most once per interval. A call with the current secret
 * runs no statement for it.
 */
async function recordFormerSecret(
  store: Pick<Store, 'write'>,
  { keyId, formerSecret }: KeyIdentity,
  nowMs: number,
): Promise<void> {
  if (!formerSecret) return
  const beforeMs = nowMs - lastUseIntervalMs
  if (Date.parse(formerSecret.lastUsedAtUtc ?? '1970') > beforeMs) return
  const use = {
    keyId,
    endsAtUtc: formerSecret.endsAtUtc,
    atUtc: formatUtc(nowMs),
    unlessUsedAfterUtc: formatUtc(beforeMs),
  }
  await store.write((tx) => recordFormerSecretUse(tx, use))
}

function unauthorized(
  state: keyof typeof unauthorizedMessages,
  options: Pick<AdmitOptions, 'bearerKeys'>,
): HttpError {
  return new HttpError(401, unauthorizedMessages[state], { headers: apiKeyChallenge(options) })
}

function admittedResult(
  request: AdmitRequest,
  terms: AdmittedTerms,
  inFlight: InFlightCalls,
): AdmitResult {
  const admitted = {
    ...reservationOf(request, terms),
    complete: inFlight.begin(scopeOf(request)),
  }
  return { kind: 'admitted', headers: limitHeaders(terms.access.tokens), admitted }
}

function scopeOf({ key: { projectId, requestId } }: AdmitRequest): string {
  return `${projectId} ${requestId}`
}

function admitResult(
  request: AdmitRequest,
  result: Exclude<AdmissionResult, { readonly kind: 'inFlight' }>,
  options: AdmitOptions,
): AdmitResult {
  if (result.kind === 'unauthorized') throw unauthorized(result.state, options)
  if (result.kind === 'admitted') return admittedResult(request, result, options.inFlight)
  if (result.kind === 'rejected') return rejectedResult(result)
  const response = decryptResponse(request.fingerprint.responseKey, result.response)
  return { kind: 'replay', headers: limitHeaders(result.access.tokens), response }
}

function rejectedResult({ tokens, error }: Pick<Rejected, 'tokens' | 'error'>): RejectedCall {
  const isLimited = error instanceof ActionError && error.code === 'RATE_LIMITED'
  const retryAfter = isLimited ? { 'retry-after': String(tokens.retryAfterS) } : {}
  return { kind: 'rejected', headers: { ...limitHeaders(tokens), ...retryAfter }, error }
}

async function rejectAfterTimeout(
  store: Store,
  call: AuthenticatedCall,
  tokens: TokenBucketResult,
): Promise<AdmitResult> {
  const error = unavailable('The first call with this requestId is still running.')
  await store.write((tx) => logCall(tx, call, outcomeOfError(error)))
  return rejectedResult({ tokens, error })
}

export type EarlyCheck = {
  readonly caller: KeyIdentity
  /** Permissions that every call of the route needs. */
  readonly permissions: readonly string[]
}

/**
 * Finds out whether admission will reject a call, before its body is read: by its permissions and by
 * the rate limit of its project. It writes nothing and consumes no token; the call is then rejected
 * with this error, which is logged and consumes its token as usual.
 */
async function findEarlyRejection(
  store: Pick<Store, 'read'>,
  { caller, permissions }: EarlyCheck,
  { limits, now }: Pick<AdmitOptions, 'limits' | 'now'>,
): Promise<ActionError | undefined> {
  const forbidden = checkPermissions(caller.permissions, permissions)
  if (forbidden) return errorOf(forbidden)
  const bucket = await store.read((tx) => readBucketState(tx, caller.projectId))
  if (!bucket) return undefined // admission rejects the key
  const tokens = takeToken(limitsOf(bucket, limits), bucket.fullAtUs, now().steadyUs)
  const rejection = checkTokens(tokens)
  return rejection && errorOf(rejection)
}
