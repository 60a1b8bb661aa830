import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { isOnPostgres } from '../../support/database/engine.ts'
import { startCountingConsole } from '../../support/console/count-reads.ts'
import { assertOk, type TestConsole } from '../../support/console/test-console.ts'

/** PostgreSQL reads a list in one step. */
const otherCount = isOnPostgres() ? 600 : 20_100
const ownCount = 30
const nowMs = Date.now()

let testConsole: TestConsole
let readCount: () => number
before(async () => {
  ;({ testConsole, readCount } = await startCountingConsole())
})
after(() => testConsole[Symbol.asyncDispose]())

/** Reads a list and checks that SQLite did so with a number of reads in this range. */
async function readList(path: string, readsMin: number, readsMax = Infinity) {
  const readsBefore = readCount()
  const { body } = assertOk(await testConsole.owner.get(path))
  const reads = readCount() - readsBefore
  assert.ok(isOnPostgres() || (reads >= readsMin && reads <= readsMax), `${path}: ${reads} reads`)
  return body
}

/** Adds charges to the ledger of a project, one per `intervalMs`, the last one now. */
async function fillCharges(projectId: string, count: number, intervalMs: number): Promise<void> {
  const chain = `budget:${projectId}`
  const chargeAt = (number: number) => ({
    chain,
    seq: 1000 + number,
    kind: 'charge' as const,
    fromLedger: chain,
    toLedger: 'revenue:svc.detect',
    amountMicros: 1n,
    atMs: nowMs - number * intervalMs,
    projectId,
    requestId: `request ${number}`,
    windowStartMs: 0,
    rowHash: new Uint8Array(32),
  })
  const charges = Array.from({ length: count }, (_, number) => chargeAt(number))
  await testConsole.gallery.database.store.write(async (tx) => {
    for (let from = 0; from < count; from += 1000)
      await tx.run(tx.build.insertInto('ledgerTransfers').values(charges.slice(from, from + 1000)))
  })
}

test('SQLite reads each transfer of an account once, and none of the many others', async () => {
  const { gallery, projectId } = testConsole
  const { project } = await gallery.createProjectClient({ galleryMode: 'isolated' })
  await fillCharges(project.projectId, otherCount, 1000)
  const ownKinds = ['allocate', 'topUp']
  for (const [filter, kinds] of [
    ['', ownKinds],
    ['&kind=charge', []],
    ['&sort=time', ownKinds.toReversed()],
  ] as const) {
    const { items, total } = await readList(`/money/ledger?total=true${filter}`, 1, 9)
    assert.deepEqual(
      items.map((item: { kind: string }) => item.kind),
      kinds,
    )
    assert.equal(total, items.length)
  }
  const intervalMs = (otherCount * 1000) / ownCount
  await fillCharges(projectId, ownCount, intervalMs)
  const ownTimes = Array.from({ length: ownCount }, (_, number) => nowMs - number * intervalMs)
  for (const sort of ['-time', 'time']) {
    const times: number[] = []
    for (let cursor: string | null = ''; cursor !== null;) {
      const path = `/money/ledger?kind=charge&limit=20&sort=${sort}${cursor && `&cursor=${cursor}`}`
      const page: Awaited<ReturnType<typeof readList>> = await readList(path, 1, 9)
      times.push(...page.items.map(({ atUtc }: { atUtc: string }) => Date.parse(atUtc)))
      cursor = page.nextCursor
    }
    assert.deepEqual(times, sort === 'time' ? ownTimes.toReversed() : ownTimes)
  }
})

test('SQLite reads the audit log in steps if few entries match', async () => {
  const { gallery, owner } = testConsole
  const { store } = gallery.database
  const [user] = assertOk(await owner.get('/users')).body.items
  const [first] = assertOk(await owner.get('/audit?sort=time')).body.items
  const { accountId } = await store.db
    .selectFrom('users')
    .select('accountId')
    .where('userId', '=', user.userId)
    .executeTakeFirstOrThrow()
  const entries = Array.from({ length: otherCount }, (_, number) => ({
    accountId,
    atMs: nowMs - number * 1000,
    userId: user.userId,
    userName: user.name,
    auditAction: 'playground.call',
    target: '',
    detail: '{}',
    ip: '::1',
    rowHash: new Uint8Array(32),
  }))
  await store.write(async (tx) => {
    for (let from = 0; from < otherCount; from += 1000)
      await tx.run(tx.build.insertInto('auditLog').values(entries.slice(from, from + 1000)))
  })
  const ofUser = `userId=${user.userId}`
  for (const [filter, actions] of [
    ['kind=changes', [first.auditAction]],
    ['kind=changes&sort=time', [first.auditAction]],
    [`${ofUser}&auditAction=key.create`, []],
    [`${ofUser}&auditAction=${first.auditAction}`, [first.auditAction]],
    [`${ofUser}&kind=commandLine`, []],
  ] as const) {
    const { items, total } = await readList(`/audit?total=true&${filter}`, 10)
    assert.deepEqual(
      items.map((item: { auditAction: string }) => item.auditAction),
      actions,
    )
    assert.equal(total, items.length)
  }
})
