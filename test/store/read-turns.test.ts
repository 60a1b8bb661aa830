import assert from 'node:assert/strict'
import { rm } from 'node:fs/promises'
import { test } from 'node:test'
import { setImmediate as nextTurn } from 'node:timers/promises'
import {
  findCurrentMasterKeyId,
  storeCurrentMasterKeyId,
} from '../../src/store/gallery/galleries.ts'
import { createDataFolder } from '../support/database/data-folder.ts'
import { openTestStore } from '../support/database/engine.ts'

/** Longer than the reads of one turn of the event loop may take together. */
const longReadMs = 20

/** Counts the turns of the event loop until it is stopped. */
function countTurns() {
  let [turns, isStopped] = [0, false]
  const count = (): void => {
    turns += 1
    if (!isStopped) setImmediate(count)
  }
  count()
  return { turn: () => turns, stop: () => void (isStopped = true) }
}

test('Long reads that arrive at once run in one turn of the event loop each', async () => {
  const dataDir = await createDataFolder()
  const store = await openTestStore(dataDir)
  const { turn, stop } = countTurns()
  const readLong = () =>
    store.read(async () => {
      const started = turn()
      for (const endMs = performance.now() + longReadMs; performance.now() < endMs;);
      return started
    })
  const turns = await Promise.all(Array.from({ length: 5 }, readLong))
  stop()
  assert.equal(new Set(turns).size, turns.length, `turns ${turns.join(', ')}`)
  await store.close()
  await rm(dataDir, { recursive: true })
})

test('An open read does not make the event loop wait for a checkpoint', async () => {
  const dataDir = await createDataFolder()
  const store = await openTestStore(dataDir)
  await store.write((tx) => storeCurrentMasterKeyId(tx, 'k'))
  const started = Promise.withResolvers<void>()
  const reading = store.read(async (tx) => {
    await findCurrentMasterKeyId(tx)
    started.resolve()
    await nextTurn()
  })
  await started.promise
  // A wait in SQLite would end without success, because this read ends in a later turn.
  assert.equal(await store.checkpoint(), true)
  await reading
  await store.close()
  await rm(dataDir, { recursive: true })
})
