import assert from 'node:assert/strict'
import { readdir, readFile } from 'node:fs/promises'
import path from 'node:path'
import { test } from 'node:test'
import { mintApiKey } from '../src/lib/api-key.ts'
import { identify } from '../src/gate/identify.ts'
import { createStrangers } from '../src/gate/strangers.ts'
import { listKeys, revokeKey } from '../src/store/keys.ts'
import { anotherKey, echo, startGate } from './gate.ts'

test('a key lives from its minting to its revocation, and the next call knows', async () => {
  await using gate = await startGate()
  const { db } = gate.books.store
  const client = gate.as(await anotherKey(gate))
  assert.equal((await client.post(echo('alive'))).body.ok, true)
  const key = (await listKeys(db, undefined, new Date())).find(({ name }) => name === 'another')
  assert.ok(key?.lastUsedAtUtc)
  assert.equal((await revokeKey(db, key.keyId, new Date())) === undefined, false)
  const refused = await client.post(echo('dead'))
  assert.equal(refused.status, 401)
  assert.equal(refused.body.detail, 'API key revoked.')
})

test('a key is good until the millisecond of its expiry and not in it', async () => {
  const expiryMs = Date.now() + 3_600_000
  let nowMs = expiryMs - 1
  await using gate = await startGate({ clock: () => nowMs })
  const expiresAtUtc = new Date(expiryMs).toISOString()
  const client = gate.as(await anotherKey(gate, { expiresAtUtc }))
  assert.equal((await client.post(echo('alive'))).body.ok, true)
  nowMs = expiryMs
  const refused = await client.post(echo('dead'))
  assert.equal(refused.status, 401)
  assert.equal(refused.body.detail, 'API key expired.')
})

test('a key revoked while its body is on the way is refused at the gate', async () => {
  let revoke: () => Promise<unknown> = async () => undefined
  await using gate = await startGate({
    atStep: async (step) => void (step === 'enter' && (await revoke())),
  })
  const { db } = gate.books.store
  const client = gate.as(await anotherKey(gate))
  const key = (await listKeys(db, undefined, new Date())).find(({ name }) => name === 'another')
  revoke = () => revokeKey(db, key?.keyId ?? '', new Date())
  const refused = await client.post(echo('late'))
  assert.equal(refused.status, 401)
  assert.equal(gate.runs.size, 0)
})

test('neither the database nor any answer holds a piece of a key', async () => {
  await using gate = await startGate()
  const key = await anotherKey(gate)
  await gate.as(key).post(echo('x'))
  const bodies = gate.key.slice(9)
  for (const secret of [key.slice(9), bodies])
    for (const file of await readdir(gate.dataDir)) {
      const bytes = await readFile(path.join(gate.dataDir, file))
      for (let at = 0; at + 12 <= secret.length; at++)
        assert.equal(bytes.includes(secret.slice(at, at + 12)), false, `${file} at ${at}`)
    }
})

test('wrong keys beyond the limit are told to wait; a right key of that address comes in', async () => {
  await using gate = await startGate({
    environment: { WRONG_KEYS_BURST: '3', WRONG_KEYS_PER_S: '1' },
  })
  const stranger = gate.as(mintApiKey('live'))
  const answers = []
  for (let n = 0; n < 5; n++) answers.push(await stranger.post(echo('x')))
  assert.deepEqual(
    new Set(answers.map(({ body }) => body.detail)),
    new Set(['API key missing or unknown.']),
  )
  assert.equal(answers[2]?.headers.get('retry-after'), null)
  assert.equal(answers[4]?.headers.get('retry-after'), '1')
  assert.equal((await gate.post(echo('x'))).body.ok, true)
})

test('how near a guess comes to a key cannot be told from the time of its refusal', async () => {
  await using gate = await startGate()
  const { findKey } = gate.books.store
  const near = gate.key
  const strangers = createStrangers({ sustainedPerS: 10_000, burst: 100_000 }, () => 0)
  const door = { findKey, strangers: { ...strangers, turnAway: async () => 0 }, clock: Date.now }
  const timeOf = async (apiKey: string): Promise<number> => {
    const startNs = process.hrtime.bigint()
    await identify({ headers: { 'x-api-key': apiKey }, clientIp: '' }, door).catch(() => 0)
    return Number(process.hrtime.bigint() - startNs)
  }
  const wrongFirst = `fsk_live_${near[9] === 'A' ? 'B' : 'A'}${near.slice(10)}`
  const wrongLast = `${near.slice(0, -1)}${near.endsWith('A') ? 'B' : 'A'}`
  const samples: [number[], number[]] = [[], []]
  const rounds = Number(process.env['TIMING_ROUNDS'] ?? 20_000)
  for (let n = 0; n < rounds; n++)
    for (const at of n % 2 ? ([0, 1] as const) : ([1, 0] as const))
      samples[at].push(await timeOf(at === 0 ? wrongFirst : wrongLast))
  assert.ok(Math.abs(welch(trimmed(samples[0]), trimmed(samples[1]))) < 4.5)
})

/** Without the slowest tenth, which tells of the machine's other work alone. */
function trimmed(values: readonly number[]): number[] {
  return values.toSorted((a, b) => a - b).slice(0, Math.floor(values.length * 0.9))
}

/** Welch's t: how many standard errors lie between the means of two samples. */
function welch(one: readonly number[], other: readonly number[]): number {
  const [a, b] = [one, other].map((values) => {
    const mean = values.reduce((sum, value) => sum + value, 0) / values.length
    const squares = values.reduce((sum, value) => sum + (value - mean) ** 2, 0)
    return { mean, error: squares / (values.length - 1) / values.length }
  }) as [{ mean: number; error: number }, { mean: number; error: number }]
  return (a.mean - b.mean) / Math.sqrt(a.error + b.error)
}
