import type { BillableResponse, CompletedCall, Settlement } from '../../../src/gate/settle.ts'
import type { Reservation } from '../../../src/gate/call-states.ts'
import { ActionError } from '../../../src/lib/errors.ts'
import type { Tx } from '../../../src/store/database.ts'
import * as fc from 'fast-check'

/** What happens before one random call, the call itself, and how it ends. */
export type RandomCall = {
  /** Steps of the two clocks; both can be set back. */
  readonly wallMs: number
  readonly steadyMs: number
  readonly isSwept: boolean
  readonly allocatedMicros: number
  /** Changes whether the calls of the first project are billed; undefined: no change. */
  readonly billing: boolean | undefined
  /** Indexes of the request id, its content, and the key. */
  readonly request: number
  readonly content: number
  readonly key: number
  readonly isUpperCase: boolean
  /** The server remembers an earlier version of the key. */
  readonly isOutdated: boolean
  readonly debug: boolean
  readonly action: (typeof callActions)[number]
  readonly parseError: 'none' | 'action' | 'http'
  readonly ending: (typeof callEndings)[number]
  readonly hasScores: boolean
  readonly hasSubjects: boolean
  /** Settles an earlier reservation afterwards, which may have expired; -1: none. */
  readonly lateSettlement: number
}

const callActions = ['svc.echo', 'svc.batch', 'svc.free'] as const

/** `open`: the call never ends. `effect`: it writes a row; `rejected`: it writes one, then fails. */
const callEndings = [
  'ok',
  'ok',
  'ok',
  'partial',
  'failed',
  'effect',
  'rejected',
  'release',
  'finish',
  'open',
] as const

const clockStep = fc.oneof(
  { weight: 4, arbitrary: fc.integer({ min: 0, max: 300 }) },
  { weight: 3, arbitrary: fc.integer({ min: 300, max: 3000 }) },
  { weight: 1, arbitrary: fc.integer({ min: -4000, max: 70_000 }) },
)

export const randomCall: fc.Arbitrary<RandomCall> = fc
  .record({
    clock: fc.oneof(
      { weight: 9, arbitrary: clockStep.map((ms) => ({ wallMs: ms, steadyMs: ms })) },
      { weight: 1, arbitrary: fc.record({ wallMs: clockStep, steadyMs: clockStep }) },
    ),
    isSwept: fc.nat({ max: 9 }).map((n) => n === 0),
    allocatedMicros: fc.constantFrom(0, 0, 0, 0, 500, 5000, -700),
    billing: fc.constantFrom(
      ...([undefined, undefined, undefined, undefined, true, false] as const),
    ),
    request: fc.nat({ max: 11 }),
    content: fc.nat({ max: 7 }).map((n) => (n === 0 ? 1 : 0)),
    key: fc.nat({ max: 11 }),
    isUpperCase: fc.boolean(),
    isOutdated: fc.nat({ max: 9 }).map((n) => n === 0),
    debug: fc.nat({ max: 9 }).map((n) => n === 0),
    action: fc.constantFrom(...callActions),
    parseError: fc.constantFrom(
      ...(['none', 'none', 'none', 'none', 'none', 'action', 'http'] as const),
    ),
    ending: fc.constantFrom(...callEndings),
    hasScores: fc.boolean(),
    hasSubjects: fc.boolean(),
    lateSettlement: fc.oneof(fc.constant(-1), fc.constant(-1), fc.nat({ max: 40 })),
  })
  .map(({ clock, ...call }) => ({ ...call, ...clock }))

/** Returns the result of the call's action, as the gate receives it. */
export function completedCallOf(
  { priceMicros, token }: Reservation,
  { ending, hasScores, hasSubjects }: RandomCall,
  accountId: string,
): CompletedCall<Settlement, Settlement> {
  const failure = (code: string): Settlement => ({
    response: { ok: false, errors: [{ code, message: `failed: ${code}` }], data: null },
  })
  const toSettlement = (outcome: Settlement | ActionError): Settlement =>
    outcome instanceof ActionError ? failure(outcome.code) : outcome
  if (ending === 'failed') return { output: { outcome: failure('NO_FACE_FOUND') }, toSettlement }
  const isBatch = priceMicros(1) < priceMicros(0)
  const results = ending === 'partial' && isBatch ? [{ ok: true }, { ok: false }] : [{ ok: true }]
  const response: BillableResponse = { ok: true, errors: [], data: { results } }
  const outcome: Settlement = {
    response,
    ...(hasSubjects && { subjectIds: ['s1', 's2', 's1'], scrubbed: response }),
    ...(hasScores && { scores }),
  }
  if (ending !== 'effect' && ending !== 'rejected') return { output: { outcome }, toSettlement }
  const effect = async (tx: Tx): Promise<Settlement> => {
    const row = { accountId, action: `effect of ${token}`, unitMicros: 1n }
    await tx.run(tx.build.insertInto('prices').values(row))
    if (ending === 'rejected') throw new ActionError('DUPLICATE_SUBJECT', 'rejected')
    return outcome
  }
  return { output: { effect }, toSettlement }
}

const scores = [
  { kind: 'similarity', value: 0.42, isMatched: true },
  { kind: 'similarity', value: 1, isMatched: false },
  { kind: 'liveness', value: 0.9, isMatched: true },
] as const
