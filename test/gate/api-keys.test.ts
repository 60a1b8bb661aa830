import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { readdir, readFile } from 'node:fs/promises'
import path from 'node:path'
import { test } from 'node:test'
import { isOnPostgres } from '../support/database/engine.ts'
import { unauthorizedMessages } from '../../src/gate/authenticate.ts'
import { generateApiKey, appendChecksum } from '../../src/lib/crypto/api-key.ts'
import { authenticate } from '../../src/gate/authenticate.ts'
import { endFormerSecret, rotateKey } from '../../src/store/tenancy/key-changes.ts'
import { listKeys, revokeKey } from '../../src/store/tenancy/keys.ts'
import { addKey, callLogRows, echoRequest, startGate } from '../support/gate/test-gate.ts'
import { createTestSteadyClock } from '../support/gate/test-steady-clock.ts'

test('A key works until it is revoked; the revocation applies to the next call', async () => {
  await using gate = await startGate()
  const { db } = gate.database.store
  const client = gate.withKey(await addKey(gate))
  assert.equal((await client.post(echoRequest('accepted'))).body.ok, true)
  const key = (await listKeys(db, undefined, new Date())).find(({ name }) => name === 'another')
  assert.ok(key?.lastUsedAtUtc)
  assert.equal((await revokeKey(db, key.keyId, new Date())) === undefined, false)
  const rejected = await client.post(echoRequest('rejected'))
  assert.equal(rejected.status, 401)
  assert.equal(rejected.body.detail, unauthorizedMessages.revoked)
})

test('A change of the permissions of a key applies to the next call', async () => {
  await using gate = await startGate()
  const { db } = gate.database.store
  const client = gate.withKey(await addKey(gate))
  const setPermissions = (permissions: string) =>
    db.updateTable('keys').set({ permissions }).where('name', '=', 'another').execute()
  assert.equal((await client.post(echoRequest('accepted'))).body.ok, true)
  await setPermissions('["svc.detect"]')
  assert.equal((await client.post(echoRequest('rejected'))).body.errors[0].code, 'FORBIDDEN')
  await setPermissions('["*"]')
  assert.equal((await client.post(echoRequest('accepted'))).body.ok, true)
})

test('A key is valid until, but not in, the millisecond of its expiry', async () => {
  const expiryMs = Date.now() + 3_600_000
  let nowMs = expiryMs - 1
  await using gate = await startGate({ clock: () => nowMs })
  const expiresAtUtc = new Date(expiryMs).toISOString()
  const client = gate.withKey(await addKey(gate, { expiresAtUtc }))
  assert.equal((await client.post(echoRequest('accepted'))).body.ok, true)
  nowMs = expiryMs
  const rejected = await client.post(echoRequest('rejected'))
  assert.equal(rejected.status, 401)
  assert.equal(rejected.body.detail, unauthorizedMessages.expired)
})

test('A key that is revoked while the body arrives is rejected', async () => {
  let revoke: () => Promise<unknown> = async () => undefined
  await using gate = await startGate({
    beforeStep: async (step) => void (step === 'admit' && (await revoke())),
  })
  const { db } = gate.database.store
  const client = gate.withKey(await addKey(gate))
  const key = (await listKeys(db, undefined, new Date())).find(({ name }) => name === 'another')
  revoke = () => revokeKey(db, key?.keyId ?? '', new Date())
  const rejected = await client.post(echoRequest('late'))
  assert.equal(rejected.status, 401)
  assert.equal(gate.runCounts.size, 0)
})

for (const usesBefore of [0, 1])
  test(`A secret that ends while the body arrives is rejected, after ${usesBefore} calls`, async () => {
    let beforeAdmission: () => Promise<unknown> = async () => undefined
    await using gate = await startGate({
      beforeStep: async (step) => void (step === 'admit' && (await beforeAdmission())),
    })
    // The clock of PostgreSQL, by which the call is admitted, can be behind that of this process.
    const { clock, store } = gate.database
    const { runExclusive, db } = store
    const client = gate.withKey(await addKey(gate))
    const key = (await listKeys(db, undefined, new Date())).find(({ name }) => name === 'another')
    const { keyId = '' } = key ?? {}
    for (let use = 0; use < usesBefore; use++) await client.post(echoRequest(`before ${use}`))
    const rotate = (overlapMs: number) =>
      runExclusive((transaction) =>
        rotateKey(transaction.db, { keyId, overlapMs }, new Date(clock())),
      )
    beforeAdmission = () => rotate(0)
    const rejected = await client.post(echoRequest('late'))
    assert.equal(rejected.status, 401)
    assert.equal(rejected.body.detail, unauthorizedMessages.replaced)

    beforeAdmission = async () => undefined
    const rotated = await rotate(3_600_000)
    assert.ok(rotated.state === 'active')
    const later = await rotate(3_600_000)
    assert.ok(later.state === 'active')
    const former = gate.withKey(rotated.key)
    for (let use = 0; use < usesBefore; use++) await former.post(echoRequest(`former ${use}`))
    beforeAdmission = () =>
      runExclusive(({ tx }) => endFormerSecret(tx, keyId, new Date(clock()).toISOString()))
    const ended = await former.post(echoRequest('late'))
    assert.equal(ended.status, 401)
    assert.equal(ended.body.detail, unauthorizedMessages.replaced)
    assert.equal(gate.runCounts.size, 2 * usesBefore)
  })

test("Both secrets of a rotated key work until, but not in, the millisecond of the overlap's end", async () => {
  let nowMs = Date.now()
  await using gate = await startGate({ clock: () => nowMs })
  const { db } = gate.database.store
  const former = gate.withKey(await addKey(gate))
  const keyOf = async () =>
    (await listKeys(db, undefined, new Date(nowMs))).find(({ name }) => name === 'another')
  const { keyId = '' } = (await keyOf()) ?? {}
  const rotated = await gate.database.store.runExclusive((transaction) =>
    rotateKey(transaction.db, { keyId, overlapMs: 3_600_000 }, new Date(nowMs)),
  )
  assert.ok(rotated.state === 'active')
  const current = gate.withKey(rotated.key)
  assert.equal((await current.post(echoRequest('new'))).body.ok, true)
  assert.equal((await keyOf())?.formerLastUsedAtUtc, null, 'only the new secret was used')
  const requestId = randomUUID()
  assert.equal((await former.post(echoRequest('once', requestId))).body.ok, true)
  const firstUseUtc = new Date(nowMs).toISOString()
  assert.equal((await keyOf())?.formerLastUsedAtUtc, firstUseUtc)
  assert.equal((await current.post(echoRequest('once', requestId))).body.ok, true)
  assert.equal(gate.runCounts.get('once'), 1, 'a retry with the other secret is a replay')
  nowMs += 59_999
  await former.post(echoRequest('soon'))
  assert.equal((await keyOf())?.formerLastUsedAtUtc, firstUseUtc, 'once a minute')
  nowMs = Date.parse(rotated.formerEndsAtUtc) - 1
  assert.equal((await former.post(echoRequest('last'))).body.ok, true)
  assert.equal((await keyOf())?.formerLastUsedAtUtc, new Date(nowMs).toISOString())
  nowMs++
  const rejected = await former.post(echoRequest('late'))
  assert.equal(rejected.status, 401)
  assert.equal(rejected.body.detail, unauthorizedMessages.replaced)
  assert.equal((await current.post(echoRequest('after'))).body.ok, true)
  const again = await gate.database.store.runExclusive((transaction) =>
    rotateKey(transaction.db, { keyId, overlapMs: 3_600_000 }, new Date(nowMs)),
  )
  assert.ok(again.state === 'active')
  const forgotten = await former.post(echoRequest('the one before the last'))
  assert.equal(forgotten.body.detail, unauthorizedMessages.unknown, 'its hash is not stored')
  const rows = await callLogRows(gate)
  assert.deepEqual(new Set(rows.map((row) => row.keyId)), new Set([keyId]))
  assert.equal(rows.length, 6, 'all calls belong to one key')
})

test('A former secret whose overlap ends while the body arrives is rejected', async () => {
  let nowMs = Date.now()
  const endMs = nowMs + 3_600_000
  await using gate = await startGate({
    clock: () => nowMs,
    beforeStep: async (step) => {
      if (step === 'admit') nowMs = endMs
    },
  })
  const { store } = gate.database
  const former = gate.withKey(await addKey(gate))
  const keys = await listKeys(store.db, undefined, new Date(nowMs))
  const { keyId = '' } = keys.find(({ name }) => name === 'another') ?? {}
  await rotateKey(store.db, { keyId, overlapMs: 3_600_000 }, new Date(nowMs))
  const rejected = await former.post(echoRequest('late'))
  assert.equal(rejected.status, 401)
  assert.equal(rejected.body.detail, unauthorizedMessages.replaced)
  assert.equal(gate.runCounts.size, 0)
})

test('The database contains no part of a key', async () => {
  await using gate = await startGate()
  const key = await addKey(gate)
  await gate.withKey(key).post(echoRequest('x'))
  for (const secret of [key.slice(9), gate.key.slice(9)])
    for (const file of await readdir(gate.dataDir)) {
      const bytes = await readFile(path.join(gate.dataDir, file))
      for (let start = 0; start + 12 <= secret.length; start++)
        assert.equal(bytes.includes(secret.slice(start, start + 12)), false, `${file} at ${start}`)
    }
})

test('The database contains no request and no response in plain text', async () => {
  await using gate = await startGate()
  const requestId = randomUUID()
  await gate.post(echoRequest('canary of 1859', requestId))
  await gate.post(echoRequest('canary of 1859', requestId.toUpperCase()))
  await gate.post(echoRequest('canary of 1859', undefined, { fail: 'action' }))
  for (const file of await readdir(gate.dataDir)) {
    const bytes = await readFile(path.join(gate.dataDir, file))
    for (const encoding of ['utf8', 'base64', 'hex'] as const)
      assert.equal(bytes.includes(Buffer.from('canary of 1859').toString(encoding)), false, file)
  }
})

test('Failed authentication above the limit returns Retry-After; a valid key of that address is accepted', async () => {
  await using gate = await startGate({
    environment: { AUTH_FAILURES_BURST: '3', AUTH_FAILURES_PER_S: '1' },
    wrapStore: createTestSteadyClock().wrapStore,
  })
  const unauthenticated = gate.withKey(generateApiKey('live'))
  const responses = []
  for (let n = 0; n < 5; n++) responses.push(await unauthenticated.post(echoRequest('x')))
  assert.deepEqual(
    new Set(responses.map(({ body }) => body.detail)),
    new Set([unauthorizedMessages.unknown]),
  )
  assert.equal(responses[2]?.headers.get('retry-after'), null)
  assert.equal(responses[4]?.headers.get('retry-after'), '1')
  assert.equal((await gate.post(echoRequest('x'))).body.ok, true)
})

test('The response time to a guessed key does not depend on how much of it is correct', async () => {
  await using gate = await startGate()
  const { findKey } = gate.database.store
  const authThrottle = { recordFailure: async () => 0 }
  const deps = { findKey, authThrottle, clock: Date.now, bearerKeys: false }
  const timeOf = async (apiKey: string): Promise<number> => {
    const startNs = process.hrtime.bigint()
    await authenticate({ headers: { 'x-api-key': apiKey }, clientIp: '' }, deps).catch(() => 0)
    return Number(process.hrtime.bigint() - startNs)
  }
  // The checksums are valid, so that each guess is looked up in the database. A guess with an invalid
  // checksum is only compared with that checksum, which is independent of existing keys.
  const body = gate.key.slice(0, -6)
  const first = appendChecksum(`fsk_live_${otherCharacter(body[9])}${body.slice(10)}`)
  const last = appendChecksum(body.slice(0, -1) + otherCharacter(body.at(-1)))
  const unrelated = generateApiKey('live')
  assert.ok(await isTimingAlike([first, last, unrelated], timeOf))
})

const rounds = Number(process.env['TIMING_ROUNDS'] ?? (isOnPostgres() ? 1000 : 10_000))

/**
 * Compares the times of the first key with those of each other key. A real difference appears in all
 * three tries; noise of the machine does not.
 */
async function isTimingAlike(
  keys: readonly string[],
  timeOf: (key: string) => Promise<number>,
): Promise<boolean> {
  for (let tries = 0; tries < 3; tries++) {
    const samples: number[][] = keys.map(() => [])
    // In each round another key is the first one.
    for (let round = 0; round < rounds; round++)
      for (const offset of keys.keys()) {
        const index = (round + offset) % keys.length
        samples[index]?.push(await timeOf(keys[index] ?? ''))
      }
    const [first = [], ...others] = samples.map(trimmed)
    if (others.every((other) => Math.abs(welchT(first, other)) < 4.5)) return true
  }
  return false
}

function otherCharacter(character: string | undefined): string {
  return character === 'A' ? 'B' : 'A'
}

/** Removes the slowest tenth, which only measures other work of the machine. */
function trimmed(values: readonly number[]): number[] {
  return values.toSorted((a, b) => a - b).slice(0, Math.floor(values.length * 0.9))
}

/** Returns Welch's t: the difference of two means in standard errors. */
function welchT(left: readonly number[], right: readonly number[]): number {
  const [a, b] = [left, right].map((values) => {
    const mean = values.reduce((sum, value) => sum + value, 0) / values.length
    const squares = values.reduce((sum, value) => sum + (value - mean) ** 2, 0)
    return { mean, error: squares / (values.length - 1) / values.length }
  }) as [{ mean: number; error: number }, { mean: number; error: number }]
  return (a.mean - b.mean) / Math.sqrt(a.error + b.error)
}
