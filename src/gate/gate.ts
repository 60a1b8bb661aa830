import type { Clock, SteadyClock } from '../lib/clock.ts'
import type { Micros } from '../lib/money.ts'
import { withSpan } from '../lib/observability/call-trace.ts'
import { runAsAccount } from '../lib/account-context.ts'
import type { Store } from '../store/database.ts'
import type { KeyIdentity } from '../store/tenancy/keys.ts'
import type { Tx } from '../store/tx.ts'
import type { IncomingCall, Admission } from './incoming-call.ts'
import { createAdmit, type AdmitResult } from './admission/admit.ts'
import { authenticate, type RequestIdentity } from './authenticate.ts'
import type { RateLimits } from './limit.ts'
import type { Now } from './admission/find-replay.ts'
import {
  finishUnbilled,
  reservationExpired,
  releaseReservation,
  settle,
  type BillableResponse,
  type ExecutedAction,
} from './settle.ts'
import { createAuthThrottle, type AuthThrottle } from './auth-throttle.ts'
import { expireLeftover, sweep } from './sweep.ts'
import { createGateStats, type GateStats } from './gate-stats.ts'
import { createInFlightCalls, type InFlightStats } from './admission/in-flight.ts'

export type GateOptions = {
  readonly clock: Clock
  readonly steadyClock: SteadyClock
  /** For projects without limits of their own. */
  readonly limits: RateLimits
  /** Wrong keys of one address. */
  readonly authThrottleLimits: RateLimits
  /** What one price unit costs accounts without a price list. */
  readonly unitMicros: Micros
  readonly windowMs: number
  /** An attempt that is not back by then is given up; its retry runs. */
  readonly attemptMsMax: number
  readonly inFlightWaitMsMax: number
  readonly logMsMax: number
}

/** The questions every call must answer before it costs anything, and the ways out. */
export type Gate = {
  /** The first question, asked before the body is read. @throws HttpError 401. */
  readonly authenticate: (visitor: RequestIdentity) => Promise<KeyIdentity>
  /** The other questions. @throws HttpError 401 when the key was revoked meanwhile, 503. */
  readonly admit: (caller: KeyIdentity, arrival: IncomingCall) => Promise<AdmitResult>
  /** @returns the answer that holds. @throws HttpError 503 when the attempt was given up. */
  readonly settle: <A extends BillableResponse>(
    pass: Admission,
    result: ExecutedAction<A>,
  ) => Promise<A>
  /** Ends a call that went well, costs nothing and is not kept for replays. */
  readonly finish: (pass: Admission) => Promise<void>
  /** Ends a call that failed through no fault of the caller. @returns the error it failed with. */
  readonly release: (pass: Admission, error: unknown) => Promise<unknown>
  /** Ends what an earlier process left running. To be called once, at the start. */
  readonly expireLeftover: () => Promise<number>
  readonly sweep: () => Promise<void>
  /** Slows whoever guesses, keys or anything else. */
  readonly authThrottle: AuthThrottle
  readonly stats: () => GateStats & InFlightStats
}

export function createGate(store: Store, options: GateOptions): Gate {
  const { clock } = options
  const twins = createInFlightCalls()
  const tally = createGateStats(options.steadyClock)
  const authThrottle = createAuthThrottle(options.authThrottleLimits, options.steadyClock)
  const authenticateDeps = { findKey: store.findKey, authThrottle, clock }
  const enter = createAdmit(store, { ...options, inFlight: twins, now: moment })

  return {
    authenticate: (visitor) =>
      withSpan('gate.authenticate', () =>
        authenticate(visitor, authenticateDeps).catch(tally.recordFailure),
      ),
    admit: (caller, arrival) =>
      withSpan('gate.admit', () =>
        runAsAccount(caller.accountId, () => enter(caller, arrival)).then(
          tally.recordAdmission,
          tally.recordFailure,
        ),
      ),
    settle: (pass, result) =>
      withSpan('gate.settle', () =>
        runAsAccount(pass.call.caller.accountId, async () => {
          const answer = await store.write((tx) => settle(tx, pass, result, clock()))
          if (!answer) throw reservationExpired()
          tally.recordSettlement(pass, answer)
          await result.afterCommit?.()
          pass.complete()
          return answer
        }),
      ),
    finish: async (pass) => {
      await write(pass, (tx) => finishUnbilled(tx, pass))
      pass.complete()
    },
    release: async (pass, error) => {
      // What cannot be released now, because the database is down, expires by itself.
      await write(pass, (tx) => releaseReservation(tx, pass, error)).catch(() => undefined)
      pass.complete()
      return error
    },
    expireLeftover: () => store.write((tx) => expireLeftover(tx, moment(), store.isFirstServer)),
    sweep: async () => {
      await store.write((tx) => sweep(tx, moment(), options.logMsMax))
      tally.recordSweep()
    },
    authThrottle,
    stats: () => ({ ...tally.stats(), ...twins.stats() }),
  }

  function write({ call: visit }: Admission, job: (tx: Tx) => Promise<void>): Promise<void> {
    return runAsAccount(visit.caller.accountId, () => store.write(job))
  }

  function moment(): Now {
    return { nowMs: clock(), steadyUs: options.steadyClock(), windowMs: options.windowMs }
  }
}
