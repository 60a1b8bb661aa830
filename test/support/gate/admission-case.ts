import * as fc from 'fast-check'
import type {
  AdmissionInput,
  BudgetState,
  KeyFacts,
} from '../../../src/store/gate/admission-facts.ts'
import type { AttemptRow } from '../../../src/store/schema.ts'
import { formatUtc } from '../../../src/lib/clock.ts'

const nowMs = Date.UTC(2030, 0, 1)
const steadyUs = nowMs * 1000
const windowMs = 20_000
const defaults = { limits: { sustainedPerS: 5, burst: 4 }, unitMicros: 1000n }

/** A project with two keys and its stored attempts, and calls of it that arrive together. */
export type AdmissionCase = {
  readonly projectId: string
  readonly fullAtUs: number
  readonly budget: Pick<BudgetState, 'balanceMicros' | 'reservedMicros'>
  readonly limits: Pick<KeyFacts, 'sustainedPerS' | 'burst' | 'billing'>
  readonly keys: readonly CaseKey[]
  readonly attempts: readonly AttemptRow[]
  readonly calls: readonly CaseCall[]
}

export type CaseKey = Pick<
  KeyFacts,
  'permissions' | 'expiresAtUtc' | 'revokedAtUtc' | 'lastUsedAtUtc'
> & { readonly keyId: string }

/** The version of the key is set when the row of the key was inserted. */
export type CaseCall = AdmissionInput & { readonly remembers: 'nothing' | 'current' | 'outdated' }

/** The price of one unit of an action of the account; the other action has the default price. */
export const pricedAction = { action: 'svc.batch', unitMicros: 7n }

const actions = ['svc.echo', pricedAction.action] as const
const hash = (content: number): Buffer => Buffer.alloc(32, content)

/** Times around now: the edges are the interesting ones. */
const edge = fc.constantFrom(-1, 0, 1)
const rare = <T>(value: fc.Arbitrary<T>, usual: T): fc.Arbitrary<T> =>
  fc.oneof({ weight: 5, arbitrary: fc.constant(usual) }, { weight: 1, arbitrary: value })
const optionalUtc = (offsetsMs: readonly number[]): fc.Arbitrary<string | null> =>
  rare(
    fc.constantFrom(...offsetsMs).map((ms) => formatUtc(nowMs + ms)),
    null,
  )

const key = fc.record({
  permissions: rare(fc.constantFrom<readonly string[]>(['svc.echo'], ['svc.batch', 'debug'], []), [
    '*',
  ]),
  expiresAtUtc: optionalUtc([-1, 0, 1]),
  revokedAtUtc: rare(fc.constant<string | null>(formatUtc(nowMs - 1000)), null),
  lastUsedAtUtc: fc.constantFrom(
    null,
    ...[-60_001, -60_000, -59_999, 0].map((ms) => formatUtc(nowMs + ms)),
  ),
})

const limits = fc.record({
  sustainedPerS: rare(fc.constantFrom<number | null>(1, 3, 7), null),
  burst: rare(fc.constantFrom<number | null>(1, 2), null),
  billing: fc.constantFrom<(0 | 1)[]>(0, 1, 1, 1),
})

/** Fractions of the interval by which a bucket is emptied, and the difference to this time. */
const bucket = fc.record({
  tokens: fc.nat({ max: 5 }),
  offsetUs: edge,
  isUnused: fc.nat({ max: 3 }),
})

const attempt = fc.record({
  request: fc.nat({ max: 2 }),
  content: fc.nat({ max: 1 }),
  state: fc.constantFrom<AttemptRow['state'][]>('running', 'done'),
  deadlineOffsetMs: fc.constantFrom(-1, 0, 1, 30_000),
  windowOffsetMs: fc.constantFrom(-windowMs - 1, -windowMs, 1 - windowMs, 0),
  reservedMicros: fc.constantFrom(0n, 5n, 1000n),
})

const call = fc.record({
  request: fc.nat({ max: 5 }),
  content: fc.nat({ max: 1 }),
  key: fc.nat({ max: 1 }),
  action: fc.constantFrom(...actions),
  needsDebug: fc.nat({ max: 4 }).map((n) => n === 0),
  units: fc.constantFrom(0, 1, 1, 2, 4),
  formerEndsAtUtc: optionalUtc([-1, 0, 1]),
  remembers: rare<CaseCall['remembers']>(
    fc.constantFrom<CaseCall['remembers'][]>('outdated', 'current'),
    'nothing',
  ),
  isRepeated: fc.nat({ max: 9 }).map((n) => n === 0),
  wallMs: fc.nat({ max: 2 }),
  steadyMs: fc.constantFrom(0, 0, 0, 200, -100),
})

/** A budget near the sum of the prices. */
const budget = fc.record({
  reservedMicros: fc.constantFrom(0n, 3000n),
  availableMicros: fc.oneof(
    fc.constantFrom(0n, 6n, 7n, 8n, 999n, 1000n, 1001n, 1999n, 2000n, 2014n),
    fc.constant(1_000_000n),
  ),
})

const parts = fc.record({
  limits,
  bucket,
  budget,
  keys: fc.tuple(key, key),
  attempts: fc.uniqueArray(attempt, { maxLength: 2, selector: ({ request }) => request }),
  calls: fc.array(call, { minLength: 1, maxLength: 5 }),
})

/** @param number makes the ids of the case unique. */
export function admissionCase(number: number): fc.Arbitrary<AdmissionCase> {
  const projectId = `project-${number}`
  const keyId = (index: number): string => `${projectId} key-${index}`
  return parts.map(({ limits, bucket, budget, keys, attempts, calls }) => ({
    projectId,
    fullAtUs: fullAtOf(limits, bucket),
    budget: {
      balanceMicros: budget.availableMicros + budget.reservedMicros,
      reservedMicros: budget.reservedMicros,
    },
    limits,
    keys: keys.map((fields, index) => ({ ...fields, keyId: keyId(index) })),
    attempts: attempts.map((fields) => attemptOf(projectId, fields)),
    calls: calls.map((fields, index) => ({
      projectId,
      keyId: keyId(fields.key),
      keyVersion: null,
      requestId: `request-${fields.request}`,
      action: fields.action,
      formerEndsAtUtc: fields.formerEndsAtUtc,
      permissions: fields.needsDebug ? [fields.action, 'debug'] : [fields.action],
      replayPermissions: fields.needsDebug ? ['debug'] : [],
      consumedTokens: undefined,
      ...defaults,
      attemptMsMax: 30_000,
      windowMs,
      units: fields.units,
      fingerprint: hash(fields.content),
      token: fields.isRepeated ? `token-${fields.request}` : `new-${index}`,
      nowMs: nowMs + fields.wallMs,
      steadyUs: steadyUs + fields.steadyMs * 1000,
      remembers: fields.remembers,
    })),
  }))
}

type Bucket = { readonly tokens: number; readonly offsetUs: number; readonly isUnused: number }

function fullAtOf(
  { sustainedPerS, burst }: AdmissionCase['limits'],
  { tokens, offsetUs, isUnused }: Bucket,
): number {
  if (isUnused === 0) return 0
  const intervalUs = Math.ceil(1e6 / (sustainedPerS ?? defaults.limits.sustainedPerS))
  const used = Math.min(tokens, (burst ?? defaults.limits.burst) + 1)
  return steadyUs + used * intervalUs + offsetUs
}

type AttemptFields = typeof attempt extends fc.Arbitrary<infer Fields> ? Fields : never

function attemptOf(projectId: string, fields: AttemptFields): AttemptRow {
  const isDone = fields.state === 'done'
  return {
    projectId,
    requestId: `request-${fields.request}`,
    keyId: `${projectId} key-0`,
    action: 'svc.echo',
    fingerprint: hash(fields.content),
    state: fields.state,
    token: `token-${fields.request}`,
    reservedMicros: isDone ? 0n : fields.reservedMicros,
    deadlineMs: nowMs + fields.deadlineOffsetMs,
    windowStartMs: nowMs + fields.windowOffsetMs,
    code: isDone ? 'OK' : null,
    response: isDone ? Buffer.from('response') : null,
    scrubbed: null,
  }
}
