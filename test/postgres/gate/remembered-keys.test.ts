import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { z } from 'zod'
import { defineAction } from '../../../src/actions/action.ts'
import type { Store } from '../../../src/store/database.ts'
import { rotateKey } from '../../../src/store/tenancy/key-changes.ts'
import { createKey, revokeKey } from '../../../src/store/tenancy/keys.ts'
import { updateProject } from '../../../src/store/tenancy/projects.ts'
import { countStatements } from '../../support/database/count-statements.ts'
import { createMigratedDatabase, openStoreAt } from '../../support/database/engine.ts'
import { postgresSkipReason } from '../../support/database/postgres-server.ts'
import { startGate, type TestGate } from '../../support/gate/test-gate.ts'

const skip = postgresSkipReason ?? false
const options = { skip }

/** Returns a setting of the caller's project, as the action receives it. */
const callerAction = defineAction({
  name: 'svc.caller',
  summary: 'Return a switch of the project.',
  price: () => 1,
  params: z.strictObject({}),
  value: z.object({ storeCrops: z.boolean() }),
  errors: [],
  example: { params: {}, value: { storeCrops: false } },
  run: async ({ caller }) => [
    { correlationId: undefined, value: { storeCrops: caller.switches.storeCrops } },
  ],
})
const request = { action: callerAction.name, params: {} }

let gate: TestGate
/** Another server on the database: the gate does not notice what it changes. */
let other: Store
const cleanup = new AsyncDisposableStack()
/** By the step before which calls wait for each other. */
const barriers = new Map<string, () => Promise<void>>()

before(async () => {
  if (skip) return
  const database = cleanup.use(await createMigratedDatabase())
  gate = cleanup.use(
    await startGate({
      environment: { DATABASE_URL: database.url },
      actions: new Map([[callerAction.name, callerAction]]),
      beforeStep: (step) => barriers.get(step)?.(),
    }),
  )
  other = await openStoreAt(database.url)
  cleanup.defer(() => other.close())
})
after(() => cleanup.disposeAsync())

async function newKey(permissions: readonly string[] = ['*']) {
  const { projectId } = gate.project
  const key = { projectId, name: 'key', permissions, expiresAtUtc: null }
  const created = await createKey(other.db, key, new Date())
  return { ...created, client: gate.withKey(created.key) }
}

test('A call takes two statements: its key is read once', options, async () => {
  const { client } = await newKey()
  const statementsOfCall = async (): Promise<readonly string[]> => {
    const counting = countStatements()
    assert.ok((await client.post(request)).body.ok)
    return counting.stop().texts
  }
  assert.ok((await statementsOfCall()).some((text) => text.includes('findCallKey')))
  await statementsOfCall() // The first call has recorded the use of the key, which changes it.
  const calls = []
  for (let call = 0; call < 5; call++) calls.push(await statementsOfCall())
  // A call may open a connection, which adds a statement.
  const [fewest = []] = calls.toSorted((a, b) => a.length - b.length)
  assert.deepEqual(
    fewest.map((text) => /"(\w+Calls?)"\(/u.exec(text)?.[1] ?? text),
    ['admitCalls', 'settleCalls'],
  )
})

/** Returns a function that resolves when it was called this often. */
function createBarrier(count: number): () => Promise<void> {
  const all = Promise.withResolvers<void>()
  let waiting = 0
  return () => {
    waiting += 1
    if (waiting === count) all.resolve()
    return all.promise
  }
}

test('Calls of one project that arrive together share statements', options, async () => {
  const { client } = await newKey()
  await client.post(request)
  for (const step of ['admit', 'settle']) barriers.set(step, createBarrier(20))
  const counting = countStatements()
  const responses = await Promise.all(Array.from({ length: 20 }, () => client.post(request)))
  const { texts } = counting.stop()
  barriers.clear()
  assert.ok(responses.every(({ body }) => body.ok))
  const counts = ['admitCalls', 'settleCalls'].map(
    (name) => texts.filter((text) => text.includes(name)).length,
  )
  assert.ok(
    counts.every((count) => count > 0 && count < 20),
    `20 calls sent ${counts.join(' and ')} statements`,
  )
})

test('The first call after another server has revoked a key is rejected', options, async () => {
  const { keyId, client } = await newKey()
  assert.ok((await client.post(request)).body.ok)
  await revokeKey(other.db, keyId, new Date())
  const rejected = await client.post(request)
  assert.equal(rejected.status, 401)
  assert.match(rejected.body.detail, /revoked/u)
  assert.equal((await client.post(request)).status, 401)
})

test('The first call with a replaced secret is rejected', options, async () => {
  const { keyId, client } = await newKey()
  assert.ok((await client.post(request)).body.ok)
  const rotated = await rotateKey(
    other.db,
    { keyId, overlapMs: 0 },
    new Date(gate.database.clock()),
  )
  assert.equal((await client.post(request)).status, 401)
  assert.ok(rotated.state === 'active')
  assert.ok((await gate.withKey(rotated.key).post(request)).body.ok)
})

test('The first call after a change has the new permissions and settings', options, async () => {
  const { keyId, client } = await newKey()
  const storeCrops = async () => (await client.post(request)).body.data.results[0].value.storeCrops
  assert.equal(await storeCrops(), false)
  await updateProject(other.db, gate.project.projectId, { switches: { storeCrops: true } })
  assert.equal(await storeCrops(), true)
  await updateProject(other.db, gate.project.projectId, { switches: { storeCrops: false } })
  assert.equal(await storeCrops(), false)
  const permissions = JSON.stringify(['svc.detect'])
  await other.db.updateTable('keys').set({ permissions }).where('keyId', '=', keyId).execute()
  assert.equal((await client.post(request)).body.errors[0].code, 'FORBIDDEN')
  await other.db
    .updateTable('keys')
    .set({ permissions: '["*"]' })
    .where('keyId', '=', keyId)
    .execute()
  assert.equal(await storeCrops(), false)
})

test('A remembered key that expires is rejected', options, async () => {
  const { keyId, client } = await newKey()
  assert.ok((await client.post(request)).body.ok)
  const expiresAtUtc = new Date(Date.now() - 1000).toISOString()
  await other.db.updateTable('keys').set({ expiresAtUtc }).where('keyId', '=', keyId).execute()
  const rejected = await client.post(request)
  assert.equal(rejected.status, 401)
  assert.match(rejected.body.detail, /expired/u)
})
