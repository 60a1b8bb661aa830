import { runAsAccount, runAsAllAccounts } from '../lib/account-context.ts'
import type { Clock, SteadyClock } from '../lib/clock.ts'
import { HttpError } from '../lib/errors.ts'
import { createKeyedQueue } from '../lib/limits/keyed-queue.ts'
import { type RateLimits, describeBucket } from '../lib/limits/token-bucket.ts'
import type { Micros } from '../lib/money.ts'
import { withSpan } from '../lib/observability/call-trace.ts'
import { listPrices } from '../store/billing/prices.ts'
import type { Store, Tx } from '../store/database.ts'
import type { AdmissionSettings, Now } from '../store/gate/admission-facts.ts'
import { limitsOf, paymentRequired } from '../store/gate/admission-rule.ts'
import { amountsOf } from '../store/gate/settlement-rule.ts'
import { readKeyDescription } from '../store/tenancy/key-description.ts'
import type { FindKey, KeyIdentity } from '../store/tenancy/keys.ts'
import { priceUnitsOf } from './admission/admit-request.ts'
import { errorOf } from './admission/admit-transaction.ts'
import {
  type Admission,
  type AdmitResult,
  type EarlyCheck,
  createAdmission,
} from './admission/admit.ts'
import { createInFlightCalls } from './admission/in-flight.ts'
import { createAuthThrottle } from './auth-throttle.ts'
import { type RequestIdentity, authenticate } from './authenticate.ts'
import type { AdmittedCall, CallContent } from './call-states.ts'
import { errorCodeOf, outcomeOfError } from './log-call.ts'
import {
  type CompletedCall,
  type SettleOptions,
  type Settlement,
  finishUnbilled,
  settle,
} from './settle.ts'
import { createStoredBytes } from './stored-bytes.ts'
import { expireLeftover, sweep } from './sweep.ts'

export type GateOptions = AdmissionSettings & {
  readonly clock: Clock
  readonly steadyClock: SteadyClock
  /** Limits of failed authentication per client address. */
  readonly authThrottleLimits: RateLimits
  /** The most bytes of the stored responses of a project. */
  readonly storedBytesMax: number
  readonly inFlightWaitMsMax: number
  readonly logMsMax: number
  /** The most pending deliveries of a webhook. */
  readonly outboxMax: number
  /** Whether `Authorization: Bearer` is accepted like `X-Api-Key`. */
  readonly bearerKeys: boolean
}

/** Two reads of an account leave connections and processors of the database to other accounts. */
const longReads = {
  runningMax: 2,
  waitingMax: 100,
  detail: 'Too many lists and searches of the user or key are waiting. Send the request again.',
}

/** The checks that every call passes before its action runs, and the ways to end a call. */
export type Gate = ReturnType<typeof createGate>

export function createGate(store: Store, options: GateOptions) {
  const { clock } = options
  const getNow = (): Now => ({ nowMs: clock(), steadyUs: options.steadyClock() })
  const inFlight = createInFlightCalls()
  const storedBytes = createStoredBytes(store, options.storedBytesMax)
  const recorder = createGateStats(options.steadyClock)
  const authThrottle = createAuthThrottle(options.authThrottleLimits, options.steadyClock)
  const { findKey, findRememberedKey } = store
  const createAuthenticate = (find: FindKey) => (request: RequestIdentity) =>
    withSpan('gate.authenticate', () =>
      authenticate(request, { ...options, findKey: find, authThrottle }).catch(
        recorder.recordFailure,
      ),
    )
  const admission = createAdmission(store, { ...options, inFlight, now: getNow })
  const recordDecision = <Result extends AdmitResult>(
    { accountId }: KeyIdentity,
    decide: () => Promise<Result>,
  ): Promise<Result> =>
    withSpan('gate.admit', () =>
      runAsAccount(accountId, decide).then(
        recorder.recordAdmission<Result>,
        recorder.recordFailure,
      ),
    )
  return {
    /** The first check; it runs before the body is read. @throws HttpError 401. */
    authenticate: createAuthenticate(findKey),
    /**
     * The same for a call that runs with the caller of its admission: the identity may be one that this
     * process remembers, and `admit` returns the current one. This saves a round trip to the database.
     */
    authenticateForAdmission: createAuthenticate(findRememberedKey),
    /** See `createAdmission`. */
    findEarlyRejection: (check: EarlyCheck) =>
      runAsAccount(check.caller.accountId, () => admission.findEarlyRejection(check)),
    /** See `createAdmission`. @throws HttpError 401 or 503. */
    admit: (...call: Parameters<Admission['admit']>) =>
      recordDecision(call[0], () => admission.admit(...call)),
    /** See `createAdmission`. */
    reject: (...call: Parameters<Admission['reject']>) =>
      recordDecision(call[0], () => admission.reject(...call)),
    /** Describes the key of an admitted call. Run it in the account of the key. */
    describeKey: (caller: KeyIdentity) => describeKey(store, caller, options, getNow()),
    ...createEndings(store, recorder, { ...options, onStored: storedBytes.add }),
    /** Expires the calls that an earlier process left. Call it once, at the start. */
    expireLeftover: () =>
      writeAll(store, (tx) => expireLeftover(tx, getNow(), store.isFirstServer)),
    sweep: async (): Promise<void> => {
      const now = getNow()
      const sweepOnce = () => writeAll(store, (tx) => sweep(tx, now, options))
      for (let count = 1; (await sweepOnce()) && count < sweepTransactionsMax;) count++
      recorder.recordSweep()
      // After the sweep, so that a failure does not prevent the release of reservations.
      await dropOldData(store, storedBytes.dropExcess, clock() - options.logMsMax)
    },
    /** Runs a list or a search; the key is the account, and the owner a user or an API key. */
    queueRead: createKeyedQueue(longReads),
    /** Slows down failed authentication; other sign-ins share it. */
    authThrottle,
    stats: () => ({ ...recorder.stats(), ...inFlight.stats() }),
  }
}

/** Creates the three ways to end an admitted call. */
function createEndings(
  store: Store,
  recorder: GateStatsRecorder,
  { clock, outboxMax, onStored }: Pick<GateOptions, 'clock'> & Omit<SettleOptions, 'nowMs'>,
) {
  const write = ({ call }: AdmittedCall, job: (tx: Tx) => Promise<void>): Promise<void> =>
    runAsAccount(call.caller.accountId, () => store.write(job))
  return {
    /** @returns the settlement. @throws HttpError 503 when the reservation has expired. */
    settle: <Outcome, S extends Settlement>(
      admitted: AdmittedCall,
      completed: CompletedCall<Outcome, S>,
    ): Promise<S> =>
      withSpan('gate.settle', () =>
        runAsAccount(admitted.call.caller.accountId, async () => {
          const settlement = await settle(store, admitted, completed, {
            nowMs: clock(),
            outboxMax,
            onStored,
          })
          recorder.recordSettlement(admitted, settlement)
          if ('effect' in completed.output) await completed.output.afterCommit?.()
          admitted.complete()
          return settlement
        }),
      ),
    /** Ends a successful call that costs nothing and is not kept for replays. */
    finish: async (admitted: AdmittedCall): Promise<void> => {
      await write(admitted, (tx) => finishUnbilled(tx, admitted, { code: 'OK' }))
      admitted.complete()
    },
    /** Ends a call that failed because of a fault of the server. @returns the given error. */
    release: async (admitted: AdmittedCall, error: unknown): Promise<unknown> => {
      // If the database is down, the reservation expires later.
      const job = (tx: Tx): Promise<void> => finishUnbilled(tx, admitted, outcomeOfError(error))
      await write(admitted, job).catch(() => undefined)
      admitted.complete()
      return error
    },
  }
}

/** Of 500 rows every 5 s: more calls per second than a database admits, so that no rows accumulate. */
const sweepTransactionsMax = 30

/** Drops stored responses beyond the limit and, also if that fails, old months of the request log. */
async function dropOldData(store: Store, dropExcess: () => Promise<void>, logBeforeMs: number) {
  try {
    await runAsAllAccounts(dropExcess)
  } finally {
    await store.dropOldLogMonths?.(logBeforeMs)
  }
}

/** Runs a job that concerns the calls of all accounts. */
function writeAll<T>(store: Store, job: (tx: Tx) => Promise<T>): Promise<T> {
  return runAsAllAccounts(() => store.write(job))
}

/** Counts calls as they enter and leave the gate. */
type GateStatsRecorder = ReturnType<typeof createGateStats>

function createGateStats(steadyClock: SteadyClock) {
  const rejected = new Map<string, number>()
  const chargedMicros = new Map<string, Micros>()
  let replayedCount = 0
  let lastSweepUs = steadyClock()
  const recordRejection = (error: unknown): void => {
    const code = errorCodeOf(error)
    rejected.set(code, (rejected.get(code) ?? 0) + 1)
  }
  return {
    /** @returns its argument. */
    recordAdmission: <Result extends AdmitResult>(result: Result): Result => {
      if (result.kind === 'rejected') recordRejection(result.error)
      if (result.kind === 'replay') replayedCount += 1
      return result
    },
    /** @throws its argument. */
    recordFailure: (error: unknown): never => {
      if (error instanceof HttpError) recordRejection(error)
      throw error
    },
    recordSettlement: (admitted: AdmittedCall, settlement: Settlement): void => {
      const { action } = admitted.call
      const { amountMicros } = amountsOf(admitted, settlement)
      if (amountMicros > 0n)
        chargedMicros.set(action, (chargedMicros.get(action) ?? 0n) + amountMicros)
    },
    recordSweep: (): void => {
      lastSweepUs = steadyClock()
    },
    /** Counts since the start of the process: by error code, and charged money by action. */
    stats: () => {
      // Up to 5 s is normal.
      const sweepLagMs = (steadyClock() - lastSweepUs) / 1000
      return { rejected, chargedMicros, replayedCount, sweepLagMs }
    },
  }
}

/** Describes the key of a call, in its account. It locks nothing and consumes no token. */
async function describeKey(
  store: Pick<Store, 'db' | 'read'>,
  caller: Pick<KeyIdentity, 'keyId' | 'projectId' | 'accountId' | 'formerSecret'>,
  { limits, unitMicros }: { readonly limits: RateLimits; readonly unitMicros: Micros },
  { steadyUs }: Pick<Now, 'steadyUs'>,
) {
  const row = await store.read((tx) => readKeyDescription(tx, caller))
  if (!row) throw new Error('the key of an admitted call has no project or no budget')
  const prices = await listPrices(store.db, caller.accountId)
  const unitPrices = new Map(prices.map((price) => [price.action, price.unitMicros]))
  const { keyName, projectName, galleryMode, billing, reservedMicros } = row
  const fullAtUs = Math.max(row.fullAtUs, steadyUs)
  const bucket = describeBucket(limitsOf(row, limits), { isAllowed: true, fullAtUs }, steadyUs)
  const { sustainedPerS, burst, remaining, resetS } = bucket
  const ends = [row.expiresAtUtc ?? [], caller.formerSecret?.endsAtUtc ?? []].flat()
  return {
    keyName,
    projectName,
    galleryMode,
    /** The earlier one of the ends of the key and of the sent secret; null: neither ends. */
    expiresAtUtc: ends.toSorted()[0] ?? null,
    /** The rate limit of the project, and its tokens now. */
    rateLimit: { sustainedPerS, burst, remaining, resetS },
    isBilled: billing === 1,
    /** The part of the budget that is not reserved by running calls. */
    availableMicros: row.balanceMicros - reservedMicros,
    reservedMicros,
    /** Returns the price of one unit of an action. */
    unitMicrosOf: (action: string): Micros => unitPrices.get(action) ?? unitMicros,
  }
}

export type Quote = { readonly priceMicros: Micros; readonly isBilled: boolean }

/**
 * Returns the price of a call if every image succeeds. Nothing is reserved.
 *
 * @throws ActionError PAYMENT_REQUIRED if the budget of the project does not cover it now.
 */
export function quotePrice(
  { isBilled, availableMicros, unitMicrosOf }: Awaited<ReturnType<typeof describeKey>>,
  content: Pick<CallContent, 'action' | 'params'> & { readonly name: string },
): Quote {
  const priceMicros = BigInt(priceUnitsOf(content, 0)) * unitMicrosOf(content.name)
  if (isBilled && priceMicros > 0n && availableMicros < priceMicros) throw errorOf(paymentRequired)
  return { priceMicros, isBilled }
}
