import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { readdir, readFile } from 'node:fs/promises'
import path from 'node:path'
import { test } from 'node:test'
import { generateApiKey, appendChecksum } from '../../src/lib/crypto/api-key.ts'
import { authenticate } from '../../src/gate/authenticate.ts'
import { listKeys, revokeKey } from '../../src/store/tenancy/keys.ts'
import { addKey, echoRequest, startGate } from '../support/gate/test-gate.ts'

test('a key lives from its minting to its revocation, and the next call knows', async () => {
  await using gate = await startGate()
  const { db } = gate.database.store
  const client = gate.withKey(await addKey(gate))
  assert.equal((await client.post(echoRequest('alive'))).body.ok, true)
  const key = (await listKeys(db, undefined, new Date())).find(({ name }) => name === 'another')
  assert.ok(key?.lastUsedAtUtc)
  assert.equal((await revokeKey(db, key.keyId, new Date())) === undefined, false)
  const refused = await client.post(echoRequest('dead'))
  assert.equal(refused.status, 401)
  assert.equal(refused.body.detail, 'API key revoked.')
})

test('a key is good until the millisecond of its expiry and not in it', async () => {
  const expiryMs = Date.now() + 3_600_000
  let nowMs = expiryMs - 1
  await using gate = await startGate({ clock: () => nowMs })
  const expiresAtUtc = new Date(expiryMs).toISOString()
  const client = gate.withKey(await addKey(gate, { expiresAtUtc }))
  assert.equal((await client.post(echoRequest('alive'))).body.ok, true)
  nowMs = expiryMs
  const refused = await client.post(echoRequest('dead'))
  assert.equal(refused.status, 401)
  assert.equal(refused.body.detail, 'API key expired.')
})

test('a key revoked while its body is on the way is refused at the gate', async () => {
  let revoke: () => Promise<unknown> = async () => undefined
  await using gate = await startGate({
    beforeStep: async (step) => void (step === 'admit' && (await revoke())),
  })
  const { db } = gate.database.store
  const client = gate.withKey(await addKey(gate))
  const key = (await listKeys(db, undefined, new Date())).find(({ name }) => name === 'another')
  revoke = () => revokeKey(db, key?.keyId ?? '', new Date())
  const refused = await client.post(echoRequest('late'))
  assert.equal(refused.status, 401)
  assert.equal(gate.runCounts.size, 0)
})

test('neither the database nor any answer holds a piece of a key', async () => {
  await using gate = await startGate()
  const key = await addKey(gate)
  await gate.withKey(key).post(echoRequest('x'))
  for (const secret of [key.slice(9), gate.key.slice(9)])
    for (const file of await readdir(gate.dataDir)) {
      const bytes = await readFile(path.join(gate.dataDir, file))
      for (let at = 0; at + 12 <= secret.length; at++)
        assert.equal(bytes.includes(secret.slice(at, at + 12)), false, `${file} at ${at}`)
    }
})

test('neither what was sent nor what was answered can be read in the database', async () => {
  await using gate = await startGate()
  const requestId = randomUUID()
  await gate.post(echoRequest('canary of 1859', requestId))
  await gate.post(echoRequest('canary of 1859', requestId.toUpperCase()))
  await gate.post(echoRequest('canary of 1859', undefined, { fail: 'action' }))
  for (const file of await readdir(gate.dataDir)) {
    const bytes = await readFile(path.join(gate.dataDir, file))
    for (const form of ['utf8', 'base64', 'hex'] as const)
      assert.equal(bytes.includes(Buffer.from('canary of 1859').toString(form)), false, file)
  }
})

test('wrong keys beyond the limit are told to wait; a right key of that address comes in', async () => {
  await using gate = await startGate({
    environment: { AUTH_FAILURES_BURST: '3', AUTH_FAILURES_PER_S: '1' },
  })
  const stranger = gate.withKey(generateApiKey('live'))
  const answers = []
  for (let n = 0; n < 5; n++) answers.push(await stranger.post(echoRequest('x')))
  assert.deepEqual(
    new Set(answers.map(({ body }) => body.detail)),
    new Set(['API key missing or unknown.']),
  )
  assert.equal(answers[2]?.headers.get('retry-after'), null)
  assert.equal(answers[4]?.headers.get('retry-after'), '1')
  assert.equal((await gate.post(echoRequest('x'))).body.ok, true)
})

test('how near a guess comes to a key cannot be told from the time of its refusal', async () => {
  await using gate = await startGate()
  const { findKey } = gate.database.store
  const deps = { findKey, authThrottle: { recordFailure: async () => 0 }, clock: Date.now }
  const timeOf = async (apiKey: string): Promise<number> => {
    const startNs = process.hrtime.bigint()
    await authenticate({ headers: { 'x-api-key': apiKey }, clientIp: '' }, deps).catch(() => 0)
    return Number(process.hrtime.bigint() - startNs)
  }
  // Right checksums, so that each guess is looked up. Without one it is compared with its own
  // checksum alone, which says nothing about any key that exists.
  const body = gate.key.slice(0, -6)
  const first = appendChecksum(`fsk_live_${otherCharacter(body[9])}${body.slice(10)}`)
  const last = appendChecksum(body.slice(0, -1) + otherCharacter(body.at(-1)))
  const pairs = [
    [first, last],
    [first, generateApiKey('live')],
  ] as const
  for (const pair of pairs)
    assert.ok(await isTimingAlike(pair, timeOf), String(pairs.indexOf(pair)))
})

const rounds = Number(process.env['TIMING_ROUNDS'] ?? 10_000)

/** A real difference shows each time; noise of the machine does not, three times in a row. */
async function isTimingAlike(
  pair: readonly [string, string],
  timeOf: (key: string) => Promise<number>,
) {
  for (let tries = 0; tries < 3; tries++) {
    const samples: [number[], number[]] = [[], []]
    for (let n = 0; n < rounds; n++)
      for (const at of n % 2 ? ([0, 1] as const) : ([1, 0] as const))
        samples[at].push(await timeOf(pair[at]))
    if (Math.abs(welchT(trimmed(samples[0]), trimmed(samples[1]))) < 4.5) return true
  }
  return false
}

function otherCharacter(character: string | undefined): string {
  return character === 'A' ? 'B' : 'A'
}

/** Without the slowest tenth, which tells of the machine's other work alone. */
function trimmed(values: readonly number[]): number[] {
  return values.toSorted((a, b) => a - b).slice(0, Math.floor(values.length * 0.9))
}

/** Welch's t: how many standard errors lie between the means of two samples. */
function welchT(one: readonly number[], other: readonly number[]): number {
  const [a, b] = [one, other].map((values) => {
    const mean = values.reduce((sum, value) => sum + value, 0) / values.length
    const squares = values.reduce((sum, value) => sum + (value - mean) ** 2, 0)
    return { mean, error: squares / (values.length - 1) / values.length }
  }) as [{ mean: number; error: number }, { mean: number; error: number }]
  return (a.mean - b.mean) / Math.sqrt(a.error + b.error)
}
