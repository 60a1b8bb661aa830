import assert from 'node:assert/strict'
import { test } from 'node:test'
import { rotateKeys } from '../../../src/gallery/keys/rotate-keys.ts'
import { postgresSkipReason, runSql } from '../../support/database/postgres-server.ts'
import {
  assertFound,
  countRows,
  enrollPeople,
  openSearchPair,
  peopleBetween,
  queryRows,
  silentLog,
  type SearchPair,
} from '../../support/gallery/search-pair.ts'

const skip = postgresSkipReason ?? false
const neverAborted = new AbortController().signal
const people = 200
const samples = [0, 77, 199]

/**
 * Stores all vectors as earlier versions did: rotated by a secret orthogonal map of the gallery, in
 * a space with the id of the gallery key.
 */
async function obfuscateVectors(url: string): Promise<void> {
  const rows = await queryRows(url, `select "faceId", embedding::text as text from vectors`)
  const parsed = rows.map(({ faceId, text }) => ({
    faceId: String(faceId),
    vector: JSON.parse(String(text)) as number[],
  }))
  const rotate = randomRotation(parsed[0]?.vector.length ?? 0)
  const values = parsed.map(({ faceId, vector }) => `('${faceId}', '[${rotate(vector).join()}]')`)
  await runSql(
    url,
    `set "facegate.account" = '*';
    update vectors v set embedding = rotated.text::halfvec, slack = slack + 0.001, space =
      (select "keyId" from "galleryKeys" k where k."galleryId" = v."galleryId")
    from (values ${values.join()}) as rotated (id, text) where rotated.id = v."faceId"`,
  )
  assert.equal(await countRows(url, 'vectors where space is not null'), people)
  assert.equal(await countRows(url, `"vectorCounts" where space = '' and vectors > 0`), 0)
}

/** Returns a product of reflections along random axes: it keeps all distances. */
function randomRotation(dimensions: number): (vector: readonly number[]) => readonly number[] {
  const axes = Array.from({ length: dimensions }, () => {
    const axis = Array.from({ length: dimensions }, () => Math.random() - 0.5)
    return axis.map((value) => (value / Math.hypot(...axis)) * Math.SQRT2)
  })
  return (vector) =>
    axes.reduce((rotated, axis) => {
      const product = axis.reduce((sum, value, index) => sum + value * (rotated[index] ?? 0), 0)
      return rotated.map((value, index) => value - product * (axis[index] ?? 0))
    }, vector)
}

async function openObfuscated(): Promise<SearchPair> {
  const pair = await openSearchPair()
  await enrollPeople(pair, pair.inDatabase, peopleBetween(0, people))
  await obfuscateVectors(pair.url)
  return pair
}

/** Returns a signal that aborts after its state was read this many times. */
function abortedAfter(reads: number): AbortSignal {
  const { signal } = new AbortController()
  let count = 0
  return Object.defineProperty(signal, 'aborted', { get: () => ++count > reads })
}

test(
  'Searches find the same subjects before, during and after obfuscated vectors are replaced at start',
  { skip },
  async () => {
    await using pair = await openObfuscated()
    const { url, inDatabase } = pair
    await assertFound(pair, inDatabase, samples)

    await inDatabase.maintain(abortedAfter(1))
    const left = await countRows(url, 'vectors where space is not null')
    assert.ok(left > 0 && left < people, `${left} are left after an interruption`)
    await assertFound(pair, inDatabase, samples)

    const lines: object[] = []
    const log = { ...silentLog, info: (line: object) => void lines.push(line) }
    const server = await pair.openServer({ log })
    assert.deepEqual(lines, [{ missing: left }, { done: left }])
    assert.equal(await countRows(url, 'vectors where space is null'), people)
    assert.equal(await countRows(url, `"vectorCounts" where space <> '' and vectors > 0`), 0)
    await assertFound(pair, server, samples)
  },
)

test('Maintenance of a running server replaces obfuscated vectors', { skip }, async () => {
  await using pair = await openObfuscated()
  await pair.inDatabase.maintain(neverAborted)
  assert.equal(await countRows(pair.url, 'vectors where space is null'), people)
  await assertFound(pair, pair.inDatabase, samples)
})

test(
  'Obfuscated vectors do not prevent a key rotation; maintenance creates them again',
  { skip },
  async () => {
    await using pair = await openObfuscated()
    const { store, url, masterKeyFile, inDatabase } = pair
    const result = await rotateKeys({ store, masterKeyFile, nowMs: Date.now })
    assert.deepEqual(result, { galleries: 1, subjects: people, renewed: 0, unreadable: 0 })
    assert.equal(await countRows(url, 'vectors'), 0)
    assert.equal(await countRows(url, '"galleryKeys"'), 1)
    await assertFound(pair, inDatabase, samples)
    await inDatabase.maintain(neverAborted)
    assert.equal(await countRows(url, 'vectors where space is null'), people)
    await assertFound(pair, inDatabase, samples)
  },
)
