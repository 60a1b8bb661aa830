import assert from 'node:assert/strict'
import { rm } from 'node:fs/promises'
import path from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { test } from 'node:test'
import { auditLedger } from '../../src/billing/audit-ledger.ts'
import { createAccount, listAccounts } from '../../src/store/tenancy/projects.ts'
import { openTestStore } from '../support/database/engine.ts'
import { createDataFolder } from '../support/database/data-folder.ts'

/** Opens a database, and a connection to it as another process has it. */
async function openShared() {
  const dataDir = await createDataFolder()
  const store = await openTestStore(dataDir)
  const other = new DatabaseSync(path.join(dataDir, 'facegate.db'), { timeout: 0 })
  return {
    store,
    other,
    [Symbol.asyncDispose]: async () => {
      other.close()
      await store.close()
      await rm(dataDir, { recursive: true })
    },
  }
}

test('A change that reads first succeeds, because no other process writes between its statements', async () => {
  await using shared = await openShared()
  const { store, other } = shared
  const now = new Date()
  await createAccount(store.db, 'first', now)
  const rename = `update accounts set name = 'renamed' where name = 'first'`
  await store.runExclusive(async ({ db }) => {
    const { length } = await listAccounts(db)
    assert.throws(() => other.exec(rename), /database is locked/u)
    await createAccount(db, `account ${length}`, now)
  })
  other.exec(rename)
  const names = (await listAccounts(store.db)).map(({ name }) => name)
  assert.deepEqual(names.toSorted(), ['account 1', 'renamed'])
})

test('A check of the ledger does not wait for a process that writes', async () => {
  await using shared = await openShared()
  const { store, other } = shared
  other.exec('begin immediate')
  const checks = await auditLedger(store.db, Date.now())
  assert.ok(checks.length > 0 && checks.every(({ ok }) => ok))
  other.exec('rollback')
})
