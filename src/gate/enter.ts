import { HttpError, unavailable } from '../lib/errors.ts'
import { newId } from '../lib/ids.ts'
import { createLines } from '../lib/lines.ts'
import type { Store } from '../store/database.ts'
import type { KeyFacts } from '../store/keys.ts'
import type { Arrival, Pass, Visit } from './arrival.ts'
import { claimAtOnce } from './claim-at-once.ts'
import { claim, type Claim, type ClaimSettings, type Question } from './claim.ts'
import { unauthorized } from './identify.ts'
import { limitHeaders, type Tokens } from './limit.ts'
import { codeOf, logCall } from './log.ts'
import type { Moment } from './replay.ts'
import { fingerprintOf, open } from './seal.ts'
import type { Twins } from './twins.ts'

/** The headers of the rate limit are for every answer to a call that entered. */
export type Entry = { readonly headers: Readonly<Record<string, string>> } & (
  | { readonly kind: 'refused'; readonly error: unknown }
  /** The stored answer as it left the first time, JSON. */
  | { readonly kind: 'replay'; readonly answer: string }
  | { readonly kind: 'pass'; readonly pass: Pass }
)

export type EntranceOptions = ClaimSettings & {
  readonly twins: Twins
  readonly twinMsMax: number
  readonly moment: () => Moment
}

/** Claims, and where a twin of the call is at work, waits for it and claims again. */
export function createEntrance(store: Store, options: EntranceOptions) {
  const { twins, twinMsMax, moment } = options
  const inLine = createLines()
  // Claims of a project wait for each other in the database, each with a connection: better here.
  const claimInTurn = (asking: Question): Promise<Claim> => {
    const ask = () => store.write((tx) => claim(tx, asking, options))
    return store.isShared ? inLine(asking.visit.caller.projectId, ask) : ask()
  }
  return async (caller: KeyFacts, { asked, ...arrival }: Arrival): Promise<Entry> => {
    const beforeMs = performance.now() - arrival.startMs
    const visit: Visit = { ...arrival, caller, atMs: Math.round(moment().nowMs - beforeMs) }
    const question = { visit, asked: withContent(visit, asked), token: newId() }
    const scope = `${caller.projectId} ${arrival.requestId.toLowerCase()}`
    const lastMs = performance.now() + twinMsMax
    for (let paid: Tokens | undefined; ;) {
      const asking: Question = { ...question, paid }
      const claimed =
        (await claimAtOnce(store, asking, { ...options, ...moment() })) ??
        (await claimInTurn(asking))
      if (claimed.kind === 'unauthorized') throw new HttpError(401, unauthorized[claimed.state])
      if (claimed.kind !== 'twin') return conclude(claimed, () => twins.begin(scope))
      paid = claimed.tokens
      const leftMs = lastMs - performance.now()
      if (leftMs <= 0) return tooLong(store, visit, paid)
      await twins.wait(scope, leftMs)
    }
  }
}

type Concluded = Extract<Claim, { kind: 'refused' | 'replay' | 'pass' }>

function conclude(claimed: Concluded, begin: () => () => void): Entry {
  const headers = limitHeaders(claimed.tokens)
  if (claimed.kind === 'refused') return { kind: 'refused', headers, error: claimed.error }
  if (claimed.kind === 'replay')
    return { kind: 'replay', headers, answer: open(claimed.content.answerKey, claimed.answer) }
  return { kind: 'pass', headers, pass: { ...claimed.attempt, end: begin() } }
}

async function tooLong(store: Store, visit: Visit, paid: Tokens): Promise<Entry> {
  const error = unavailable('The first call with this requestId is still at work.')
  await store.write((tx) => logCall(tx, visit, { code: codeOf(error) }))
  return { kind: 'refused', headers: limitHeaders(paid), error }
}

function withContent(visit: Visit, asked: Arrival['asked']): Question['asked'] {
  if ('error' in asked) return asked
  const { params, debug } = asked
  const requestId = visit.requestId.toLowerCase()
  const { projectId } = visit.caller
  const content = fingerprintOf({ projectId, requestId, action: visit.action, params, debug })
  return { ...asked, content }
}
