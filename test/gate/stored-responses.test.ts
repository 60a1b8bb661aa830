import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { rm } from 'node:fs/promises'
import { test } from 'node:test'
import { createStoredBytes } from '../../src/gate/stored-bytes.ts'
import type { Store } from '../../src/store/database.ts'
import { runAsAllAccounts } from '../../src/lib/account-context.ts'
import { fillCalls } from '../support/console/fill-calls.ts'
import { createDataFolder } from '../support/database/data-folder.ts'
import { dropDatabase } from '../support/database/engine.ts'
import {
  addProject,
  assertLedgerAudit,
  budgetMicros,
  callLogRows,
  echoRequest,
  startGate,
  type TestGate,
} from '../support/gate/test-gate.ts'

const bytesMax = 1024 * 1024
const environment = { REPLAY_BYTES_MAX: String(bytesMax) }

const letters = ['a', 'b', 'c', 'd', 'e', 'f']

/** Returns a call whose response has 240 kB, so that four responses are within the limit. */
const largeCall = (letter: string) => echoRequest(letter.repeat(240_000), randomUUID())

async function storedBytes({ database: { store } }: TestGate): Promise<number> {
  const rows = await store.db.selectFrom('attempts').select('response').execute()
  return rows.reduce((sum, { response }) => sum + (response?.length ?? 0), 0)
}

test('Beyond the limit of stored bytes, the oldest responses of the project are dropped and never run again', async () => {
  await using gate = await startGate({ environment })
  const { key } = await addProject(gate, 'other')
  const other = echoRequest('other', randomUUID())
  const otherResponse = (await gate.withKey(key).post(other)).body
  const calls = letters.map(largeCall)
  for (const call of calls) assert.equal((await gate.post(call)).body.ok, true)
  const before = await budgetMicros(gate)
  await gate.database.gate.sweep()

  assert.ok((await storedBytes(gate)) <= bytesMax)
  const replays = []
  for (const call of calls) replays.push((await gate.post(call)).body)
  for (const { ok, errors } of replays.slice(0, 2)) {
    assert.equal(ok, false)
    assert.equal(errors[0].code, 'REQUEST_ID_CONFLICT')
    assert.match(errors[0].message, /its response is no longer stored/u)
  }
  for (const { ok, meta } of replays.slice(2)) {
    assert.equal(ok, true)
    assert.deepEqual(meta, { idempotencyReplay: true })
  }
  const { meta, ...otherReplay } = (await gate.withKey(key).post(other)).body
  assert.deepEqual(otherReplay, otherResponse)
  assert.deepEqual(meta, { idempotencyReplay: true })
  assert.equal(await budgetMicros(gate), before)
  assert.equal(Math.max(...gate.runCounts.values()), 1)
  await assertLedgerAudit(gate)
})

test('A check of stored bytes that fails prevents no other check, and is repeated only after more calls', async () => {
  let reads = 0
  const read = async <T>(): Promise<T> => {
    reads += 1
    if (reads === 1) throw new Error('injected')
    return [] as T
  }
  const { add, dropExcess } = createStoredBytes({ read, write: read }, 1600)
  add('first', 1)
  add('second', 1)
  await assert.rejects(dropExcess(), ({ errors }: AggregateError) => errors.length === 1)
  assert.equal(reads, 2)
  await dropExcess()
  assert.equal(reads, 2)
  // Half of the share, which is a sixteenth of the limit.
  add('first', 49)
  await dropExcess()
  assert.equal(reads, 2)
  add('first', 1)
  await dropExcess()
  assert.equal(reads, 3)
})

test('The sweep drops old months of the log also if a check of stored bytes fails', async () => {
  let isDown = false
  let dropped = 0
  const wrapStore = (store: Store): Store => ({
    ...store,
    read: async (job) => {
      if (isDown) throw new Error('injected')
      return store.read(job)
    },
    dropOldLogMonths: async () => (dropped += 1),
  })
  await using gate = await startGate({ environment, wrapStore })
  await gate.post(echoRequest('a'))
  isDown = true
  dropped = 0
  await assert.rejects(gate.database.gate.sweep(), AggregateError)
  assert.equal(dropped, 1)
  isDown = false
})

test('Responses of an earlier process count towards the limit', async () => {
  const dataDir = await createDataFolder()
  const calls = letters.map(largeCall)
  let key: string
  {
    await using gate = await startGate({ environment, dataDir })
    for (const call of calls) await gate.post(call)
    key = gate.key
  }
  {
    await using gate = await startGate({ environment, dataDir, key })
    await gate.post(echoRequest('first of this process'))
    await gate.database.gate.sweep()
    assert.ok((await storedBytes(gate)) <= bytesMax)
    const { body } = await gate.post(calls[0])
    assert.equal(body.errors[0]?.code, 'REQUEST_ID_CONFLICT')
  }
  await dropDatabase(dataDir)
  await rm(dataDir, { recursive: true, force: true })
})

test('One sweep deletes all log rows that are old enough, also more than a transaction deletes', async () => {
  const dayMs = 24 * 3_600_000
  let nowMs = Date.now()
  await using gate = await startGate({
    environment: { LOG_RETENTION_DAYS: '30' },
    clock: () => nowMs,
  })
  const { body } = await gate.post(echoRequest('now'))
  assert.equal(body.ok, true)
  const { store } = gate.database
  const { projectId, keyId } = (await callLogRows(gate))[0] ?? {}
  assert.ok(projectId && keyId)
  await runAsAllAccounts(() => fillCalls(store, { projectId, keyId, count: 1200 }))
  nowMs += 31 * dayMs
  await gate.database.gate.sweep()
  assert.deepEqual(await callLogRows(gate), [])
})
