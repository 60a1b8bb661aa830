import assert from 'node:assert/strict'
import { rm } from 'node:fs/promises'
import { test } from 'node:test'
import { createAuditRunner } from '../../src/billing/audit-runner.ts'
import { createDataFolder } from '../support/database/data-folder.ts'
import { databaseSettings, dropDatabase } from '../support/database/engine.ts'

test('One account runs one comparison at a time, and 503 rejects a fifth one, but not another account', async () => {
  const dataDir = await createDataFolder()
  const { DATABASE_URL: databaseUrl = '' } = await databaseSettings(dataDir)
  const { reconcile } = createAuditRunner({ dataDir, databaseUrl })
  const compare = (accountId: string) => reconcile({ accountId, fromMs: 1, toMs: 2 })
  const results = Promise.allSettled(Array.from({ length: 30 }, () => compare('first')))
  assert.equal((await compare('second')).billedCalls, 0)
  const rejected = (await results).filter(({ status }) => status === 'rejected')
  assert.equal(rejected.length, 26)
  for (const { reason } of rejected as PromiseRejectedResult[]) {
    assert.equal(reason.status, 503)
    assert.ok(Number(reason.headers['retry-after']) > 0)
  }
  assert.equal((await compare('first')).charges, 0)
  await dropDatabase(dataDir)
  await rm(dataDir, { recursive: true })
})
