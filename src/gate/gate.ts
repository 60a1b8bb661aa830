import type { Clock, SteadyClock } from '../lib/clock.ts'
import type { Micros } from '../lib/money.ts'
import { span } from '../lib/trace.ts'
import { inAccount } from '../lib/account.ts'
import type { Store } from '../store/database.ts'
import type { KeyFacts } from '../store/keys.ts'
import type { Tx } from '../store/tx.ts'
import type { Arrival, Pass } from './arrival.ts'
import { createEntrance, type Entry } from './enter.ts'
import { identify, type Visitor } from './identify.ts'
import type { Limits } from './limit.ts'
import type { Moment } from './replay.ts'
import { finish, givenUp, giveUp, settle, type Answer, type Result } from './settle.ts'
import { createStrangers, type Strangers } from './strangers.ts'
import { expireLeft, sweep } from './sweep.ts'
import { createTally, type GateStats } from './tally.ts'
import { createTwins, type TwinStats } from './twins.ts'

export type GateOptions = {
  readonly clock: Clock
  readonly steadyClock: SteadyClock
  /** For projects without limits of their own. */
  readonly limits: Limits
  /** Wrong keys of one address. */
  readonly strangerLimits: Limits
  /** What one price unit costs accounts without a price list. */
  readonly unitMicros: Micros
  readonly windowMs: number
  /** An attempt that is not back by then is given up; its retry runs. */
  readonly attemptMsMax: number
  readonly twinMsMax: number
  readonly logMsMax: number
}

/** The questions every call must answer before it costs anything, and the ways out. */
export type Gate = {
  /** The first question, asked before the body is read. @throws HttpError 401. */
  readonly identify: (visitor: Visitor) => Promise<KeyFacts>
  /** The other questions. @throws HttpError 401 when the key was revoked meanwhile, 503. */
  readonly enter: (caller: KeyFacts, arrival: Arrival) => Promise<Entry>
  /** @returns the answer that holds. @throws HttpError 503 when the attempt was given up. */
  readonly settle: <A extends Answer>(pass: Pass, result: Result<A>) => Promise<A>
  /** Ends a call that went well, costs nothing and is not kept for replays. */
  readonly finish: (pass: Pass) => Promise<void>
  /** Ends a call that failed through no fault of the caller. @returns the error it failed with. */
  readonly release: (pass: Pass, error: unknown) => Promise<unknown>
  /** Ends what an earlier process left running. To be called once, at the start. */
  readonly takeOver: () => Promise<number>
  readonly sweep: () => Promise<void>
  /** Slows whoever guesses, keys or anything else. */
  readonly strangers: Strangers
  readonly stats: () => GateStats & TwinStats
}

export function createGate(store: Store, options: GateOptions): Gate {
  const { clock } = options
  const twins = createTwins()
  const tally = createTally(options.steadyClock)
  const strangers = createStrangers(options.strangerLimits, options.steadyClock)
  const door = { findKey: store.findKey, strangers, clock }
  const enter = createEntrance(store, { ...options, twins, moment })

  return {
    identify: (visitor) => span('gate.identify', () => identify(visitor, door).catch(tally.failed)),
    enter: (caller, arrival) =>
      span('gate.enter', () =>
        inAccount(caller.accountId, () => enter(caller, arrival)).then(tally.entered, tally.failed),
      ),
    settle: (pass, result) =>
      span('gate.settle', () =>
        inAccount(pass.visit.caller.accountId, async () => {
          const answer = await store.write((tx) => settle(tx, pass, result, clock()))
          if (!answer) throw givenUp()
          tally.settled(pass, answer)
          await result.afterwards?.()
          pass.end()
          return answer
        }),
      ),
    finish: async (pass) => {
      await write(pass, (tx) => finish(tx, pass))
      pass.end()
    },
    release: async (pass, error) => {
      // What cannot be released now, because the database is down, expires by itself.
      await write(pass, (tx) => giveUp(tx, pass, error)).catch(() => undefined)
      pass.end()
      return error
    },
    takeOver: () => store.write((tx) => expireLeft(tx, moment(), store.isFirst)),
    sweep: async () => {
      await store.write((tx) => sweep(tx, moment(), options.logMsMax))
      tally.swept()
    },
    strangers,
    stats: () => ({ ...tally.stats(), ...twins.stats() }),
  }

  function write({ visit }: Pass, job: (tx: Tx) => Promise<void>): Promise<void> {
    return inAccount(visit.caller.accountId, () => store.write(job))
  }

  function moment(): Moment {
    return { nowMs: clock(), steadyUs: options.steadyClock(), windowMs: options.windowMs }
  }
}
