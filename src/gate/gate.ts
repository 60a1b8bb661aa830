import type { Clock, SteadyClock } from '../lib/clock.ts'
import { HttpError, unavailable } from '../lib/errors.ts'
import type { Micros } from '../lib/money.ts'
import type { Store } from '../store/database.ts'
import type { KeyFacts } from '../store/keys.ts'
import type { Arrival, Pass, Visit } from './arrival.ts'
import { claim, type Claim, type Question } from './claim.ts'
import { identify, unauthorized, type Visitor } from './identify.ts'
import { limitHeaders, type Limits, type Tokens } from './limit.ts'
import { codeOf, logCall } from './log.ts'
import type { Moment } from './replay.ts'
import { fingerprintOf, open } from './seal.ts'
import { giveUp, settle, type Answer, type Result } from './settle.ts'
import { createStrangers } from './strangers.ts'
import { expireAll, sweep } from './sweep.ts'
import { createTwins } from './twins.ts'

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

/** The headers of the rate limit are for every answer to a call that entered. */
export type Entry = { readonly headers: Readonly<Record<string, string>> } & (
  | { readonly kind: 'refused'; readonly error: unknown }
  /** The stored answer as it left the first time, JSON. */
  | { readonly kind: 'replay'; readonly answer: string }
  | { readonly kind: 'pass'; readonly pass: Pass }
)

/** The questions every call must answer before it costs anything, and the ways out. */
export type Gate = {
  /** The first question, asked before the body is read. @throws HttpError 401. */
  readonly identify: (visitor: Visitor) => Promise<KeyFacts>
  /** The other questions. @throws HttpError 401 when the key was revoked meanwhile, 503. */
  readonly enter: (caller: KeyFacts, arrival: Arrival) => Promise<Entry>
  /** @returns the answer that holds. @throws HttpError 503 when the attempt was given up. */
  readonly settle: <A extends Answer>(pass: Pass, result: Result<A>) => Promise<A>
  /** Ends a call that failed through no fault of the caller. @returns the error it failed with. */
  readonly release: (pass: Pass, error: unknown) => Promise<unknown>
  /** Ends what an earlier process left running. To be called once, by the only server. */
  readonly takeOver: () => Promise<number>
  readonly sweep: () => Promise<void>
}

export function createGate(store: Store, options: GateOptions): Gate {
  const { clock } = options
  const twins = createTwins()
  const strangers = createStrangers(options.strangerLimits, options.steadyClock)
  const door = { findKey: store.findKey, strangers, clock }
  const ends = new WeakMap<Pass, () => void>()

  return {
    identify: (visitor) => identify(visitor, door),
    enter,
    settle: async (pass, result) => {
      const answer = await store.write((tx) => settle(tx, pass, result, clock()))
      if (!answer) throw unavailable('The call took too long and was given up; send it again.')
      ends.get(pass)?.()
      return answer
    },
    release: async (pass, error) => {
      // What cannot be released now, because the database is down, expires by itself.
      await store.write((tx) => giveUp(tx, pass, error, clock())).catch(() => undefined)
      ends.get(pass)?.()
      return error
    },
    takeOver: () => store.write((tx) => expireAll(tx, clock())),
    sweep: () => store.write((tx) => sweep(tx, moment(), options.logMsMax)),
  }

  async function enter(caller: KeyFacts, { asked, ...arrival }: Arrival): Promise<Entry> {
    const visit: Visit = { ...arrival, caller }
    const question = { visit, asked: withContent(visit, asked) }
    const scope = `${caller.projectId} ${arrival.requestId.toLowerCase()}`
    const lastMs = performance.now() + options.twinMsMax
    for (let paid: Tokens | undefined; ;) {
      const paidBefore = paid
      const claimed = await store.write((tx) =>
        claim(tx, { ...question, paid: paidBefore }, { ...options, ...moment() }),
      )
      if (claimed.kind === 'unauthorized') throw new HttpError(401, unauthorized[claimed.state])
      const headers = limitHeaders(claimed.tokens)
      if (claimed.kind !== 'twin') return conclude(claimed, headers, scope)
      const leftMs = lastMs - performance.now()
      if (leftMs <= 0) return { kind: 'refused', headers, error: await tooLong(visit) }
      await twins.wait(scope, leftMs)
      paid = claimed.tokens
    }
  }

  function conclude(claimed: Concluded, headers: Entry['headers'], scope: string): Entry {
    if (claimed.kind === 'refused') return { kind: 'refused', headers, error: claimed.error }
    if (claimed.kind === 'replay')
      return { kind: 'replay', headers, answer: open(claimed.content.answerKey, claimed.answer) }
    ends.set(claimed.pass, twins.begin(scope))
    return { kind: 'pass', headers, pass: claimed.pass }
  }

  async function tooLong(visit: Visit): Promise<HttpError> {
    const error = unavailable('The first call with this requestId is still at work.')
    await store.write((tx) => logCall(tx, visit, { code: codeOf(error), nowMs: clock() }))
    return error
  }

  function moment(): Moment {
    return { nowMs: clock(), steadyUs: options.steadyClock(), windowMs: options.windowMs }
  }
}

type Concluded = Extract<Claim, { kind: 'refused' | 'replay' | 'pass' }>

function withContent(visit: Visit, asked: Arrival['asked']): Question['asked'] {
  if ('error' in asked) return asked
  const { params, debug } = asked
  const requestId = visit.requestId.toLowerCase()
  const { projectId } = visit.caller
  const content = fingerprintOf({ projectId, requestId, action: visit.action, params, debug })
  return { ...asked, content }
}
