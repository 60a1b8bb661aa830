import { HttpError, unavailable } from '../../lib/errors.ts'
import { newId } from '../../lib/ids.ts'
import { createKeyedQueue } from '../../lib/keyed-queue.ts'
import type { Store } from '../../store/database.ts'
import type { KeyIdentity } from '../../store/tenancy/keys.ts'
import type { IncomingCall, Admission, AuthenticatedCall } from '../incoming-call.ts'
import { admitInSingleStatement } from './admit-single-statement.ts'
import {
  admitInTransaction,
  type AdmitTransactionResult,
  type AdmitSettings,
  type AdmitRequest,
} from './admit-transaction.ts'
import { accountIsMoved, apiKeyChallenge, unauthorizedMessages } from '../authenticate.ts'
import { limitHeaders, type TokenBucketResult } from '../../lib/limits/token-bucket.ts'
import { logCall, outcomeOfError } from '../log-call.ts'
import type { Now } from './find-replay.ts'
import { touchFormerSecret } from './former-secret.ts'
import { fingerprintOf, decryptResponse } from '../fingerprint.ts'
import type { InFlightCalls } from './in-flight.ts'

/** The decision about a call. Every response to the call gets the rate-limit headers. */
export type AdmitResult = { readonly headers: Readonly<Record<string, string>> } & (
  | { readonly kind: 'rejected'; readonly error: unknown }
  /** The stored response as it was first sent, as JSON. */
  | { readonly kind: 'replay'; readonly response: string }
  | { readonly kind: 'admitted'; readonly admission: Admission }
)

export type AdmitOptions = AdmitSettings & {
  readonly inFlight: InFlightCalls
  readonly inFlightWaitMsMax: number
  readonly now: () => Now
}

/**
 * Returns the function that admits calls. While an earlier call with the same requestId runs, it
 * waits for that call and then tries again.
 */
export function createAdmit(store: Store, options: AdmitOptions) {
  const admitAs = createAdmitAs(store, options)
  return async (caller: KeyIdentity, call: IncomingCall): Promise<AdmitResult> => {
    const result = await admitAs(caller, call)
    if (result !== unconfirmed) return result
    const current = await caller.refresh?.(new Date(options.now().nowMs))
    if (current?.state !== 'active') throw unauthorized(current?.state ?? 'unknown')
    if (current.isFrozen === 1) throw accountIsMoved()
    const retried = await admitAs(current, call)
    if (retried === unconfirmed) throw new Error('the identity of a caller was not refreshed')
    return retried
  }
}

/** The single statement did not admit the call, so it did not confirm a remembered caller either. */
const unconfirmed = Symbol('unconfirmed')

function createAdmitAs(store: Store, options: AdmitOptions) {
  const { inFlight, inFlightWaitMsMax, now } = options
  const projectQueue = createKeyedQueue()
  // Transactions of one project wait for each other in the database, where each holds a connection.
  // They wait here instead.
  const admitByTransaction = (request: AdmitRequest): Promise<AdmitTransactionResult> => {
    const run = () => store.write((tx) => admitInTransaction(tx, request, options))
    return store.isShared ? projectQueue(request.call.caller.projectId, run) : run()
  }
  return async (
    caller: KeyIdentity,
    { parsed, ...incoming }: IncomingCall,
  ): Promise<AdmitResult | typeof unconfirmed> => {
    await touchFormerSecret(store, caller, now().nowMs)
    const elapsedMs = performance.now() - incoming.startMs
    const call: AuthenticatedCall = {
      ...incoming,
      caller,
      atMs: Math.round(now().nowMs - elapsedMs),
    }
    const newRequest = { call, parsed: withFingerprint(call, parsed), token: newId() }
    const scope = `${caller.projectId} ${incoming.requestId.toLowerCase()}`
    const waitUntilMs = performance.now() + inFlightWaitMsMax
    for (let consumedTokens: TokenBucketResult | undefined; ;) {
      const request: AdmitRequest = { ...newRequest, consumedTokens }
      const single = await admitInSingleStatement(store, request, { ...options, ...now() })
      if (!single && caller.refresh) return unconfirmed
      const decision = single ?? (await admitByTransaction(request))
      if (decision.kind === 'unauthorized') throw unauthorized(decision.state)
      if (decision.kind !== 'inFlight') return toAdmitResult(decision, () => inFlight.begin(scope))
      consumedTokens = decision.tokens
      const remainingMs = waitUntilMs - performance.now()
      if (remainingMs <= 0) return rejectAfterTimeout(store, call, consumedTokens)
      await inFlight.wait(scope, remainingMs)
    }
  }
}

function unauthorized(state: keyof typeof unauthorizedMessages): HttpError {
  return new HttpError(401, unauthorizedMessages[state], { headers: apiKeyChallenge })
}

type FinalDecision = Extract<AdmitTransactionResult, { kind: 'rejected' | 'replay' | 'admitted' }>

function toAdmitResult(decision: FinalDecision, begin: () => () => void): AdmitResult {
  const headers = limitHeaders(decision.tokens)
  if (decision.kind === 'rejected') return { kind: 'rejected', headers, error: decision.error }
  if (decision.kind === 'replay')
    return {
      kind: 'replay',
      headers,
      response: decryptResponse(decision.fingerprint.responseKey, decision.response),
    }
  return { kind: 'admitted', headers, admission: { ...decision.reservation, complete: begin() } }
}

async function rejectAfterTimeout(
  store: Store,
  call: AuthenticatedCall,
  tokens: TokenBucketResult,
): Promise<AdmitResult> {
  const error = unavailable('The first call with this requestId is still running.')
  await store.write((tx) => logCall(tx, call, outcomeOfError(error)))
  return { kind: 'rejected', headers: limitHeaders(tokens), error }
}

function withFingerprint(
  call: AuthenticatedCall,
  parsed: IncomingCall['parsed'],
): AdmitRequest['parsed'] {
  if ('error' in parsed) return parsed
  const { params, debug } = parsed
  const requestId = call.requestId.toLowerCase()
  const { projectId } = call.caller
  const fingerprint = fingerprintOf({ projectId, requestId, action: call.action, params, debug })
  return { ...parsed, fingerprint }
}
