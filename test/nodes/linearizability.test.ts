import assert from 'node:assert/strict'
import { randomInt, randomUUID } from 'node:crypto'
import { test } from 'node:test'
import * as fc from 'fast-check'
import { allocate, topUp } from '../../src/billing/ledger.ts'
import { seededRandom } from '../../src/lib/random/seeded-random.ts'
import { findBalance } from '../../src/store/billing/balances.ts'
import { budgetLedger, findProject } from '../../src/store/tenancy/projects.ts'
import { postgresSkipReason } from '../support/database/postgres-server.ts'
import { imageParams, type GalleryClient } from '../support/gallery/test-gallery.ts'
import { assertLedgerAudit } from '../support/gate/test-gate.ts'
import { findAnomaly } from '../support/nodes/linearizability.ts'
import {
  balanceModel,
  createHistoryRecorder,
  subjectModel,
  type BalanceOperation,
  type HistoryRecorder,
  type SubjectOperation,
} from '../support/nodes/recorded-history.ts'
import { startGalleryNodes, type GalleryNodes } from '../support/nodes/test-nodes.ts'

const skip = postgresSkipReason ?? false
const operations = Number(process.env['HISTORY_OPERATIONS'] ?? 120)
const seed = Number(process.env['HISTORY_SEED'] ?? randomInt(2 ** 31))
const clients = 6
const people = ['Ann', 'Ben', 'Cid']
const unitMicros = 1000n

/** Repeats a call with one request id until it has a response other than 503. */
async function callUntilDone(node: GalleryClient, action: string, params: object) {
  const requestId = randomUUID()
  let response = await node.call(action, params, { requestId })
  while (response.status === 503) response = await node.call(action, params, { requestId })
  assert.equal(response.status, 200, JSON.stringify(response.body))
  const { ok, data, errors } = response.body
  return { value: ok ? data.results[0].value : undefined, code: errors[0]?.code, errors }
}

type Run = {
  readonly history: HistoryRecorder
  readonly nodes: readonly GalleryClient[]
  readonly random: () => number
  /** Person → the subject of the last enrollment; deletions name it, also if it is deleted. */
  readonly lastIds: Map<string, string>
}

/** Runs one operation on a person and records it, and its charge. */
async function runSubjectOperation(run: Run): Promise<void> {
  const { history, lastIds } = run
  const node = pick(run, run.nodes)
  const person = pick(run, people)
  const lastId = lastIds.get(person)
  const kind = pick(run, ['enroll', 'identify', 'identify', lastId ? 'delete' : 'enroll'] as const)
  const call = callOf(kind, person, lastId ?? '')
  const { result, ...times } = await history.observe(() => callUntilDone(node, ...call))
  const { value, code } = result
  const units = { enroll: 2n, identify: 2n, delete: 0n }[kind]
  const change = value ? -units * unitMicros : 0n
  history.balances.push({ ...times, kind: 'change', amountMicros: change })
  const base = { ...times, kind, person }
  if (kind === 'identify') {
    assert.ok(value, JSON.stringify(result))
    history.subjects.push({ ...base, subjectId: value.bestMatch?.subjectId ?? null })
  } else if (kind === 'enroll') {
    assert.ok(value || code === 'EXTERNAL_ID_CONFLICT', code)
    if (value) lastIds.set(person, value.subjectId)
    history.subjects.push({ ...base, subjectId: value?.subjectId ?? null })
  } else {
    assert.ok(value || code === 'SUBJECT_NOT_FOUND', code)
    history.subjects.push({ ...base, subjectId: lastId ?? '', isFound: value !== undefined })
  }
}

function callOf(
  kind: SubjectOperation['kind'],
  person: string,
  subjectId: string,
): [action: string, params: object] {
  const enrollment = { externalId: person, onExisting: 'reject', duplicateCheck: 'off' }
  if (kind === 'enroll') return ['svc.enroll', { ...imageParams(person), ...enrollment }]
  if (kind === 'identify') return ['svc.identify', imageParams(person)]
  return ['svc.deleteSubject', { subjectId }]
}

function pick<T>({ random }: Run, choices: readonly T[]): T {
  const choice = choices[Math.floor(random() * choices.length)]
  if (choice === undefined) throw new Error('there is nothing to choose from')
  return choice
}

/** Reads the budget, or adds to it, on a third server, and records that. */
async function runBalanceOperation({ history, random }: Run, { local }: GalleryNodes) {
  const { store } = local.database
  const project = await findProject(store.db, 'default')
  assert.ok(project)
  if (random() < 0.8) {
    const ledger = budgetLedger(project.projectId)
    const { result, ...times } = await history.observe(() => findBalance(store.db, ledger))
    return history.balances.push({ ...times, kind: 'read', balanceMicros: result.balanceMicros })
  }
  const amountMicros = BigInt(1 + Math.floor(random() * 1e6))
  const { result: _nothing, ...times } = await history.observe(() =>
    store.write(async (tx) => {
      await topUp(tx, project.accountId, amountMicros, Date.now())
      await allocate(tx, project, amountMicros, Date.now())
    }),
  )
  return history.balances.push({ ...times, kind: 'change', amountMicros })
}

/** Runs random operations by several clients at the same time. */
async function recordRun(nodes: GalleryNodes, randomSeed: number): Promise<HistoryRecorder> {
  const history = createHistoryRecorder()
  const random = seededRandom(randomSeed)
  const run: Run = { history, random, nodes: [nodes.a.client, nodes.b.client], lastIds: new Map() }
  let remaining = operations
  const work = async (): Promise<void> => {
    while (remaining-- > 0)
      await (run.random() < 0.2 ? runBalanceOperation(run, nodes) : runSubjectOperation(run))
  }
  await Promise.all(Array.from({ length: clients }, work))
  return history
}

const historiesByPerson = ({ subjects }: HistoryRecorder): readonly SubjectOperation[][] =>
  people.map((person) => subjects.filter((operation) => operation.person === person))

for (const search of ['memory', 'pgvector'])
  test(
    `Calls to two nodes have the results of one order of all calls, for each subject and for the balance (${search})`,
    { skip },
    async (t) => {
      t.diagnostic(`HISTORY_SEED=${seed}, HISTORY_OPERATIONS=${operations}`)
      await using nodes = await startGalleryNodes({ environment: { SEARCH: search } })
      const history = await recordRun(nodes, seed)
      for (const subjectHistory of historiesByPerson(history))
        assert.equal(findAnomaly(subjectModel, subjectHistory), undefined)
      const initial = 1_000_000_000_000n
      assert.equal(findAnomaly(balanceModel(initial), history.balances), undefined)
      assertPlantedAnomaliesAreFound(history, initial)
      await assertLedgerAudit(nodes.local)
      const { subjects, balances } = history
      t.diagnostic(`${subjects.length} calls on subjects, ${balances.length} on the balance`)
    },
  )

/** Changes one result of the recorded history in each of several ways. */
function assertPlantedAnomaliesAreFound(history: HistoryRecorder, initial: bigint): void {
  const planted: string[] = []
  for (const subjectHistory of historiesByPerson(history)) {
    const stale = subjectHistory.findLastIndex(
      (operation) =>
        operation.kind === 'identify' && isWithoutConcurrentWrite(operation, subjectHistory),
    )
    const operation = subjectHistory[stale]
    if (!operation) continue
    const subjectId = operation.subjectId === null ? 'a deleted subject' : null
    const changed = subjectHistory.with(stale, { ...operation, subjectId })
    const anomaly = findAnomaly(subjectModel, changed)
    assert.ok(anomaly?.includes(changed[stale] ?? operation), 'the stale result is reported')
    planted.push(operation.person)
  }
  assert.ok(planted.length > 0, 'at least one identification had no concurrent write')
  const charge = history.balances.findIndex(
    (operation) => operation.kind === 'change' && operation.amountMicros < 0n,
  )
  const last = { calledAt: Infinity, returnedAt: Infinity, kind: 'read' } as const
  const total = history.balances.reduce(
    (sum, operation) => sum + (operation.kind === 'change' ? operation.amountMicros : 0n),
    initial,
  )
  const complete: BalanceOperation[] = [...history.balances, { ...last, balanceMicros: total }]
  assert.equal(findAnomaly(balanceModel(initial), complete), undefined)
  assert.ok(findAnomaly(balanceModel(initial), complete.toSpliced(charge, 1)), 'a lost charge')
  const twice = complete.toSpliced(charge, 0, ...complete.slice(charge, charge + 1))
  assert.ok(findAnomaly(balanceModel(initial), twice), 'a double charge')
}

function isWithoutConcurrentWrite(
  { calledAt, returnedAt }: SubjectOperation,
  history: readonly SubjectOperation[],
): boolean {
  const writes = history.filter(({ kind }) => kind !== 'identify')
  return writes.every((write) => write.returnedAt < calledAt || write.calledAt > returnedAt)
}

/** Creates an operation from its times and its result. */
const identify = (calledAt: number, returnedAt: number, subjectId: string | null) =>
  ({ calledAt, returnedAt, kind: 'identify', person: 'Ann', subjectId }) as const
const enrollment = (calledAt: number, returnedAt: number, subjectId: string | null) =>
  ({ ...identify(calledAt, returnedAt, subjectId), kind: 'enroll' }) as const
const deletion = (calledAt: number, returnedAt: number, subjectId: string, isFound = true) =>
  ({ ...identify(calledAt, returnedAt, subjectId), kind: 'delete', isFound }) as const

test('The checker accepts every order that concurrency permits, and finds planted anomalies', () => {
  const isLinearizable = (...history: readonly SubjectOperation[]) =>
    findAnomaly(subjectModel, history) === undefined
  const created = enrollment(1, 4, 's')
  assert.ok(isLinearizable(created, identify(2, 3, null)), 'before the concurrent enrollment')
  assert.ok(isLinearizable(created, identify(2, 3, 's')), 'after it')
  assert.ok(isLinearizable(created, deletion(2, 6, 's'), identify(3, 5, 's')))
  assert.ok(isLinearizable(created, deletion(5, 6, 's'), deletion(7, 8, 's', false)))
  assert.ok(isLinearizable(created, enrollment(2, 3, null)), 'the response can come first')
  assert.ok(!isLinearizable(created, identify(5, 6, null)), 'a stale read after an enrollment')
  const isRead = identify(7, 8, 's')
  assert.ok(!isLinearizable(created, deletion(5, 6, 's'), isRead), 'a deleted subject is found')
  assert.deepEqual(findAnomaly(subjectModel, [created, deletion(5, 6, 's'), isRead]), [isRead])
  assert.ok(!isLinearizable(created, enrollment(2, 3, 'other')), 'two subjects of one person')
  assert.ok(!isLinearizable(created, deletion(5, 8, 's'), deletion(6, 7, 's')), 'two deletions')
  assert.ok(!isLinearizable(created, deletion(5, 6, 's', false)), 'a lost enrollment')
  // One read has seen the deletion, and a later one has not.
  const reads = [identify(6, 7, null), identify(8, 9, 's')]
  assert.ok(!isLinearizable(created, deletion(5, 10, 's'), ...reads))
})

/** Tries every order of the operations. */
function isLinearizableByTrial(history: readonly BalanceOperation[], state: bigint): boolean {
  return (
    history.length === 0 ||
    history.some((operation, index) => {
      const others = history.toSpliced(index, 1)
      if (others.some(({ returnedAt }) => returnedAt < operation.calledAt)) return false
      const next = balanceModel(0n).apply(state, operation)
      return next !== undefined && isLinearizableByTrial(others, next)
    })
  )
}

test('The checker returns the same result as a trial of all orders', () => {
  const times = fc.uniqueArray(fc.nat(40), { minLength: 2, maxLength: 2 })
  const operation = fc.record({
    times,
    isRead: fc.boolean(),
    amount: fc.bigInt({ min: -2n, max: 2n }),
  })
  let anomalies = 0
  const property = fc.property(fc.array(operation, { maxLength: 5 }), (list) => {
    const history = list.map(({ times: pair, isRead, amount }): BalanceOperation => {
      const [calledAt = 0, returnedAt = 0] = pair.toSorted((a, b) => a - b)
      return isRead
        ? { calledAt, returnedAt, kind: 'read', balanceMicros: amount }
        : { calledAt, returnedAt, kind: 'change', amountMicros: amount }
    })
    const isAnomaly = findAnomaly(balanceModel(0n), history) !== undefined
    if (isAnomaly) anomalies++
    assert.equal(!isAnomaly, isLinearizableByTrial(history, 0n))
  })
  fc.assert(property, { numRuns: 2000 })
  assert.ok(anomalies > 200 && anomalies < 1800, `${anomalies} anomalies`)
})
