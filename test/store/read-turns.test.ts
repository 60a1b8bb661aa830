import assert from 'node:assert/strict'
import { rm } from 'node:fs/promises'
import { test } from 'node:test'
import { setImmediate as nextTurn } from 'node:timers/promises'
import { runAsAccount } from '../../src/lib/account-context.ts'
import {
  findCurrentMasterKeyId,
  storeCurrentMasterKeyId,
} from '../../src/store/gallery/galleries.ts'
import { createDataFolder } from '../support/database/data-folder.ts'
import { isOnPostgres, openTestStore } from '../support/database/engine.ts'

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

const onlySqlite = { skip: isOnPostgres() && 'servers on PostgreSQL read in parallel' }

test('Reads of two accounts take turns', onlySqlite, async () => {
  const dataDir = await createDataFolder()
  const store = await openTestStore(dataDir)
  const order: string[] = []
  const readAs = (accountId: string, count: number) =>
    runAsAccount(accountId, () =>
      Array.from({ length: count }, () => store.read(() => void order.push(accountId))),
    )
  await Promise.all([...readAs('busy', 4), ...readAs('other', 2)])
  assert.deepEqual(order, ['busy', 'busy', 'other', 'busy', 'other', 'busy'])
  await store.close()
  await rm(dataDir, { recursive: true })
})
