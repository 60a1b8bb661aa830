import * as fc from 'fast-check'
import type { CallDecision } from '../../../src/lib/observability/call-decision.ts'
import type { SettlementInput } from '../../../src/store/gate/statements.ts'
import type { BudgetState } from '../../../src/store/gate/admission-facts.ts'
import type { AttemptRow } from '../../../src/store/schema.ts'

const nowMs = Date.UTC(2030, 0, 1)

/** A project with its running and completed attempts, and settlements that arrive together. */
export type SettlementCase = {
  readonly projectId: string
  readonly budget: BudgetState
  readonly attempts: readonly AttemptRow[]
  readonly settlements: readonly SettlementInput[]
}

const rare = <T>(value: fc.Arbitrary<T>, usual: fc.Arbitrary<T>, weight = 9): fc.Arbitrary<T> =>
  fc.oneof({ weight, arbitrary: usual }, { weight: 1, arbitrary: value })

const comparison: CallDecision = {
  outcome: 'no_match',
  similarity: null,
  livenessScore: null,
  threshold: 0.8,
  margin: null,
  quality: 66,
  reason: null,
}

const call = fc.record({
  isRunning: rare(fc.constant(false), fc.constant(true)),
  ownsAttempt: rare(fc.constant(false), fc.constant(true)),
  reservedMicros: fc.constantFrom(0n, 1n, 7n, 1000n, 1000n),
  charged: fc.constantFrom('all', 'all', 'part', 'none'),
  exceeds: rare(fc.constant(true), fc.constant(false), 99),
  isBilled: rare(fc.constant(false), fc.constant(true), 4),
  action: fc.constantFrom('svc.echo', 'svc.batch'),
  subjectIds: fc.constantFrom<string[][]>([], [], ['s1'], ['s1', 's2', 's1']),
  scores: fc.array(
    fc.record({
      kind: fc.constantFrom('similarity' as const, 'liveness' as const),
      value: fc.constantFrom(0, 0.019, 0.02, 0.5, 0.999, 1),
      isMatched: fc.boolean(),
    }),
    { maxLength: 3 },
  ),
  decision: fc.constantFrom<(CallDecision | undefined)[]>(
    undefined,
    { ...comparison, similarity: 0.9123, margin: 0.1, outcome: 'match' },
    { ...comparison, similarity: 0.77, outcome: 'no_match' },
    { ...comparison, livenessScore: 0.45, outcome: 'uncertain', reason: 'LOW_QUALITY' },
  ),
  isScrubbed: fc.boolean(),
  problem: fc.constantFrom(null, null, '{"problems":[{"code":"NO_FACE_FOUND"}]}'),
  latencyMs: fc.constantFrom(0, 0.5, 12.345, 1000, 60_000),
  /** Calls of two hours. */
  hours: fc.nat({ max: 1 }),
})

const budget = fc.record({
  /** Reservations of other calls, and free money. */
  othersMicros: fc.constantFrom(0n, 500n),
  availableMicros: fc.constantFrom(0n, 1n, 10_000n),
  headSeq: fc.constantFrom(0, 1, 41),
  headHash: fc.uint8Array({ minLength: 32, maxLength: 32 }),
  /** Less is reserved than the calls have reserved: the ledger was changed by hand. */
  isMissing: rare(fc.constant(true), fc.constant(false), 99),
})

/** @param number makes the ids of the case unique. */
export function settlementCase(number: number): fc.Arbitrary<SettlementCase> {
  const projectId = `project-${number}`
  return fc
    .record({ budget, calls: fc.array(call, { minLength: 1, maxLength: 5 }) })
    .map(({ budget, calls }) => {
      const settlements = calls.map((fields, index) => settlementOf(projectId, fields, index))
      const reservedSumMicros = settlements.reduce(
        (sum, { reservedMicros }) => sum + reservedMicros,
        0n,
      )
      const isMissing = budget.isMissing && reservedSumMicros > 0n
      const reservedMicros = isMissing
        ? reservedSumMicros - 1n
        : reservedSumMicros + budget.othersMicros
      return {
        projectId,
        budget: {
          balanceMicros: reservedMicros + budget.availableMicros,
          reservedMicros,
          headSeq: budget.headSeq,
          headHash: budget.headHash,
          lowAtMicros: null,
          exhaustedAtMicros: null,
        },
        attempts: calls.map((fields, index) => attemptOf(settlements, fields, index)),
        settlements,
      }
    })
}

type CallFields = typeof call extends fc.Arbitrary<infer Fields> ? Fields : never

function settlementOf(projectId: string, fields: CallFields, index: number): SettlementInput {
  const { isBilled, action, latencyMs, subjectIds, scores, decision, isScrubbed } = fields
  const reservedMicros = isBilled ? fields.reservedMicros : 0n
  const price = {
    all: fields.reservedMicros,
    part: fields.reservedMicros / 2n,
    none: 0n,
  }[fields.charged]
  const requestId = `request-${index}`
  return {
    projectId,
    requestId,
    token: fields.ownsAttempt ? `token-${index}` : 'other',
    code: fields.problem === null ? 'OK' : 'NO_FACE_FOUND',
    response: Buffer.from(`response ${index}`),
    scrubbed: isScrubbed ? Buffer.from('scrubbed') : null,
    subjectIds,
    scores,
    decision,
    reservedMicros,
    amountMicros: fields.exceeds ? reservedMicros + 1n : isBilled ? price : 0n,
    meteredMicros: isBilled || fields.exceeds ? 0n : price,
    action,
    windowStartMs: nowMs,
    nowMs: nowMs + fields.hours * 3_600_000 + index,
    row: {
      atMs: nowMs + fields.hours * 3_600_000,
      keyId: `${projectId} key-0`,
      requestId: requestId.toUpperCase(),
      action,
      latencyMs,
      detail: fields.problem,
    },
  }
}

function attemptOf(
  settlements: readonly SettlementInput[],
  { isRunning }: CallFields,
  index: number,
): AttemptRow {
  const settlement = settlements[index]
  if (!settlement) throw new RangeError('each attempt has a settlement')
  const { projectId, requestId, action, reservedMicros } = settlement
  return {
    projectId,
    requestId,
    keyId: `${projectId} key-0`,
    action,
    fingerprint: Buffer.alloc(32),
    state: isRunning ? 'running' : 'done',
    token: `token-${index}`,
    reservedMicros: isRunning ? reservedMicros : 0n,
    deadlineMs: nowMs,
    windowStartMs: nowMs,
    code: isRunning ? null : 'OK',
    response: isRunning ? null : Buffer.from('earlier'),
    scrubbed: null,
  }
}
