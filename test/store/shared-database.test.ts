import assert from 'node:assert/strict'
import { rm } from 'node:fs/promises'
import { test } from 'node:test'
import { setTimeout as delay } from 'node:timers/promises'
import { pauseAfterWrites } from '../../src/cli/with-store.ts'
import { openTestStore } from '../support/database/engine.ts'
import { createDataFolder } from '../support/database/data-folder.ts'

test('A command leaves the lock of the database to a service for as long as each write took', async () => {
  const dataDir = await createDataFolder()
  const opened = await openTestStore(dataDir)
  const pauses: number[] = []
  const store = pauseAfterWrites(opened, async (ms) => void pauses.push(ms))
  const writeMs = 30
  const written = await store.write(async () => {
    await delay(writeMs)
    return 'written'
  })
  assert.equal(written, 'written')
  assert.equal(pauses.length, 1)
  // A timer can end up to a millisecond early.
  assert.ok((pauses[0] ?? 0) >= writeMs - 1, String(pauses))
  await opened.close()
  await rm(dataDir, { recursive: true })
})
