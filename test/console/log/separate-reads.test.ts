import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { newId } from '../../../src/lib/ids.ts'
import type { NewCallRow } from '../../../src/store/schema.ts'
import { createKey } from '../../../src/store/tenancy/keys.ts'
import { isOnPostgres } from '../../support/database/engine.ts'
import { fillCalls } from '../../support/console/fill-calls.ts'
import { startCountingConsole } from '../../support/console/count-reads.ts'
import { assertOk, type TestConsole } from '../../support/console/test-console.ts'

const callCount = 12_000

/** A third of the calls each: a clear match, a narrow match and a narrow miss. */
const decisions: readonly Partial<NewCallRow>[] = [
  { outcome: 'match', similarity: 0.9 },
  { outcome: 'match', similarity: 0.7 },
  { outcome: 'no_match', similarity: 0.6 },
]

let testConsole: TestConsole
let readCount: () => number
let rowCount: () => number
before(async () => {
  ;({ testConsole, readCount, rowCount } = await startCountingConsole())
  const { projectId, gallery } = testConsole
  const decide = (number: number) => ({ action: 'svc.identify', ...decisions[number % 3] })
  await fillCalls(gallery.database.store, { projectId, keyId: newId(), count: callCount, decide })
})
after(() => testConsole[Symbol.asyncDispose]())

test('The preview of a threshold counts the calls of all steps, and SQLite reads each separately', async () => {
  const path = `/projects/${testConsole.projectId}/threshold-decisions`
  for (const [threshold, newMatches, lostMatches] of [
    [0.8, 0, callCount / 3],
    [0.5, callCount / 3, 0],
  ] as const) {
    const readsBefore = readCount()
    const { body } = assertOk(await testConsole.owner.get(`${path}?threshold=${threshold}`))
    const { calls, matches, isCapped } = body
    assert.deepEqual(
      [calls, matches, isCapped, body.newMatches, body.lostMatches],
      [callCount, (callCount / 3) * 2, false, newMatches, lostMatches],
    )
    // Three steps of at most 5,000 calls, and the read of the project.
    const reads = readCount() - readsBefore
    assert.ok(isOnPostgres() || reads >= 4, `${reads} reads`)
  }
})

test('A download of the log reads the names of the keys that its calls have', async () => {
  const { gallery, projectId } = testConsole
  const { db } = gallery.database.store
  const key = { projectId, permissions: ['*'], expiresAtUtc: null }
  for (let number = 0; number < 200; number++)
    await createKey(db, { ...key, name: `camera ${number}` }, new Date())
  const rowsBefore = rowCount()
  const { text } = assertOk(await testConsole.owner.get('/log.csv?period=30d'))
  const calls = text.trimEnd().split('\r\n').length - 1
  assert.ok(calls >= callCount)
  const rows = rowCount() - rowsBefore
  assert.ok(rows < 1.5 * calls, `${rows} rows were read for ${calls} calls`)
})
