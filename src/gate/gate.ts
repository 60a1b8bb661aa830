import type { Clock, SteadyClock } from '../lib/clock.ts'
import type { ActionError } from '../lib/errors.ts'
import type { Micros } from '../lib/money.ts'
import { withSpan } from '../lib/observability/call-trace.ts'
import { runAsAccount, runAsAllAccounts } from '../lib/account-context.ts'
import type { Store } from '../store/database.ts'
import type { FindKey, KeyIdentity } from '../store/tenancy/keys.ts'
import type { Tx } from '../store/tx.ts'
import type { IncomingCall, Admission } from './incoming-call.ts'
import { createAdmit, type AdmitResult } from './admission/admit.ts'
import { findEarlyRejection, type EarlyCheck } from './admission/early-rejection.ts'
import { authenticate, type RequestIdentity } from './authenticate.ts'
import type { RateLimits } from '../lib/limits/token-bucket.ts'
import type { Now } from './admission/find-replay.ts'
import {
  finishUnbilled,
  releaseReservation,
  settleOnStore,
  type CompletedCall,
  type Settlement,
} from './settle.ts'
import { createAuthThrottle, type AuthThrottle } from './auth-throttle.ts'
import { expireLeftover, sweep } from './sweep.ts'
import { createGateStats, type GateStats, type GateStatsRecorder } from './gate-stats.ts'
import { createInFlightCalls, type InFlightStats } from './admission/in-flight.ts'

export type GateOptions = {
  readonly clock: Clock
  readonly steadyClock: SteadyClock
  /** Rate limits of projects without individual limits. */
  readonly limits: RateLimits
  /** Limits of failed authentication per client address. */
  readonly authThrottleLimits: RateLimits
  /** The price of one unit for accounts without a price list. */
  readonly unitMicros: Micros
  /** How long responses are kept for replays. */
  readonly windowMs: number
  /** A call that takes longer expires; its retry runs again. */
  readonly attemptMsMax: number
  readonly inFlightWaitMsMax: number
  readonly logMsMax: number
  /** The most pending deliveries of a webhook. */
  readonly outboxMax: number
}

/** The checks that every call passes before its action runs, and the ways to end a call. */
export type Gate = {
  /** The first check; it runs before the body is read. @throws HttpError 401. */
  readonly authenticate: (request: RequestIdentity) => Promise<KeyIdentity>
  /**
   * The same for a call that runs with the caller of its admission: the identity may be one that this
   * process remembers, and `admit` returns the current one. This saves a round trip to the database.
   */
  readonly authenticateForAdmission: (request: RequestIdentity) => Promise<KeyIdentity>
  /** Returns the error with which `admit` will reject a call whose body has not been read. */
  readonly findEarlyRejection: (check: EarlyCheck) => Promise<ActionError | undefined>
  /** The other checks. @throws HttpError 401 when the key was revoked in the meantime, 503. */
  readonly admit: (caller: KeyIdentity, call: IncomingCall) => Promise<AdmitResult>
  /** @returns the settlement. @throws HttpError 503 when the reservation has expired. */
  readonly settle: <Outcome, S extends Settlement>(
    admission: Admission,
    completed: CompletedCall<Outcome, S>,
  ) => Promise<S>
  /** Ends a successful call that costs nothing and is not kept for replays. */
  readonly finish: (admission: Admission) => Promise<void>
  /** Ends a call that failed because of a fault of the server. @returns the given error. */
  readonly release: (admission: Admission, error: unknown) => Promise<unknown>
  /** Expires the calls that an earlier process left. Call it once, at the start. */
  readonly expireLeftover: () => Promise<number>
  readonly sweep: () => Promise<void>
  /** Slows down failed authentication; other sign-ins share it. */
  readonly authThrottle: AuthThrottle
  readonly stats: () => GateStats & InFlightStats
}

export function createGate(store: Store, options: GateOptions): Gate {
  const { clock } = options
  const getNow = (): Now => ({
    nowMs: clock(),
    steadyUs: options.steadyClock(),
    windowMs: options.windowMs,
  })
  const inFlight = createInFlightCalls()
  const recorder = createGateStats(options.steadyClock)
  const authThrottle = createAuthThrottle(options.authThrottleLimits, options.steadyClock)
  const { findKey, admitInOneStatement, findRememberedKey } = store
  const createAuthenticate = (find: FindKey) => (request: RequestIdentity) =>
    withSpan('gate.authenticate', () =>
      authenticate(request, { findKey: find, authThrottle, clock }).catch(recorder.recordFailure),
    )
  const admit = createAdmit(store, { ...options, inFlight, now: getNow })
  return {
    authenticate: createAuthenticate(findKey),
    authenticateForAdmission: createAuthenticate(
      (admitInOneStatement && findRememberedKey) ?? findKey,
    ),
    findEarlyRejection: (check) =>
      runAsAccount(check.caller.accountId, () =>
        findEarlyRejection(store, check, { ...options, ...getNow() }),
      ),
    admit: (caller, call) =>
      withSpan('gate.admit', () =>
        runAsAccount(caller.accountId, () => admit(caller, call)).then(
          recorder.recordAdmission,
          recorder.recordFailure,
        ),
      ),
    ...createEndings(store, recorder, options),
    expireLeftover: () =>
      writeAll(store, (tx) => expireLeftover(tx, getNow(), store.isFirstServer)),
    sweep: async () => {
      await writeAll(store, (tx) => sweep(tx, getNow(), options.logMsMax))
      recorder.recordSweep()
      // After the sweep, so that a failure does not prevent the release of reservations.
      await store.dropOldLogMonths?.(clock() - options.logMsMax)
    },
    authThrottle,
    stats: () => ({ ...recorder.stats(), ...inFlight.stats() }),
  }
}

/** Creates the three ways to end an admitted call. */
function createEndings(
  store: Store,
  recorder: GateStatsRecorder,
  { clock, outboxMax }: Pick<GateOptions, 'clock' | 'outboxMax'>,
): Pick<Gate, 'settle' | 'finish' | 'release'> {
  const write = ({ call }: Admission, job: (tx: Tx) => Promise<void>): Promise<void> =>
    runAsAccount(call.caller.accountId, () => store.write(job))
  return {
    settle: (admission, completed) =>
      withSpan('gate.settle', () =>
        runAsAccount(admission.call.caller.accountId, async () => {
          const settlement = await settleOnStore(store, admission, completed, {
            nowMs: clock(),
            outboxMax,
          })
          recorder.recordSettlement(admission, settlement)
          if ('effect' in completed.output) await completed.output.afterCommit?.()
          admission.complete()
          return settlement
        }),
      ),
    finish: async (admission) => {
      await write(admission, (tx) => finishUnbilled(tx, admission))
      admission.complete()
    },
    release: async (admission, error) => {
      // If the database is down, the reservation expires later.
      const job = (tx: Tx): Promise<void> => releaseReservation(tx, admission, error)
      await write(admission, job).catch(() => undefined)
      admission.complete()
      return error
    },
  }
}

/** Runs a job that concerns the calls of all accounts. */
function writeAll<T>(store: Store, job: (tx: Tx) => Promise<T>): Promise<T> {
  return runAsAllAccounts(() => store.write(job))
}
