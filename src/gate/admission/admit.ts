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
import { unauthorizedMessages } from '../authenticate.ts'
import { limitHeaders, type TokenBucketResult } from '../limit.ts'
import { errorCodeOf, logCall } from '../log-call.ts'
import type { Now } from './find-replay.ts'
import { fingerprintOf, decryptResponse } from '../fingerprint.ts'
import type { InFlightCalls } from './in-flight.ts'

/** The headers of the rate limit are for every answer to a call that entered. */
export type AdmitResult = { readonly headers: Readonly<Record<string, string>> } & (
  | { readonly kind: 'refused'; readonly error: unknown }
  /** The stored answer as it left the first time, JSON. */
  | { readonly kind: 'replay'; readonly response: string }
  | { readonly kind: 'pass'; readonly admission: Admission }
)

export type AdmitOptions = AdmitSettings & {
  readonly inFlight: InFlightCalls
  readonly inFlightWaitMsMax: number
  readonly now: () => Now
}

/** Claims, and where a twin of the call is at work, waits for it and claims again. */
export function createAdmit(store: Store, options: AdmitOptions) {
  const { inFlight: twins, inFlightWaitMsMax: twinMsMax, now } = options
  const inLine = createKeyedQueue()
  // Claims of a project wait for each other in the database, each with a connection: better here.
  const claimInTurn = (asking: AdmitRequest): Promise<AdmitTransactionResult> => {
    const ask = () => store.write((tx) => admitInTransaction(tx, asking, options))
    return store.isShared ? inLine(asking.call.caller.projectId, ask) : ask()
  }
  return async (
    caller: KeyIdentity,
    { parsed, ...arrival }: IncomingCall,
  ): Promise<AdmitResult> => {
    const beforeMs = performance.now() - arrival.startMs
    const call: AuthenticatedCall = {
      ...arrival,
      caller,
      atMs: Math.round(now().nowMs - beforeMs),
    }
    const question = { call, parsed: withFingerprint(call, parsed), token: newId() }
    const scope = `${caller.projectId} ${arrival.requestId.toLowerCase()}`
    const lastMs = performance.now() + twinMsMax
    for (let paid: TokenBucketResult | undefined; ;) {
      const asking: AdmitRequest = { ...question, consumedTokens: paid }
      const claimed =
        (await admitInSingleStatement(store, asking, { ...options, ...now() })) ??
        (await claimInTurn(asking))
      if (claimed.kind === 'unauthorized')
        throw new HttpError(401, unauthorizedMessages[claimed.state])
      if (claimed.kind !== 'twin') return toAdmitResult(claimed, () => twins.begin(scope))
      paid = claimed.tokens
      const leftMs = lastMs - performance.now()
      if (leftMs <= 0) return rejectAfterTimeout(store, call, paid)
      await twins.wait(scope, leftMs)
    }
  }
}

type FinalDecision = Extract<AdmitTransactionResult, { kind: 'refused' | 'replay' | 'pass' }>

function toAdmitResult(claimed: FinalDecision, begin: () => () => void): AdmitResult {
  const headers = limitHeaders(claimed.tokens)
  if (claimed.kind === 'refused') return { kind: 'refused', headers, error: claimed.error }
  if (claimed.kind === 'replay')
    return {
      kind: 'replay',
      headers,
      response: decryptResponse(claimed.fingerprint.responseKey, claimed.response),
    }
  return { kind: 'pass', headers, admission: { ...claimed.reservation, complete: begin() } }
}

async function rejectAfterTimeout(
  store: Store,
  visit: AuthenticatedCall,
  paid: TokenBucketResult,
): Promise<AdmitResult> {
  const error = unavailable('The first call with this requestId is still at work.')
  await store.write((tx) => logCall(tx, visit, { code: errorCodeOf(error) }))
  return { kind: 'refused', headers: limitHeaders(paid), error }
}

function withFingerprint(
  visit: AuthenticatedCall,
  asked: IncomingCall['parsed'],
): AdmitRequest['parsed'] {
  if ('error' in asked) return asked
  const { params, debug } = asked
  const requestId = visit.requestId.toLowerCase()
  const { projectId } = visit.caller
  const content = fingerprintOf({ projectId, requestId, action: visit.action, params, debug })
  return { ...asked, fingerprint: content }
}
