import assert from 'node:assert/strict'
import { rm } from 'node:fs/promises'
import { test } from 'node:test'
import { runAsAccount } from '../../src/lib/account-context.ts'
import type { Store, Tx } from '../../src/store/database.ts'
import { turnMsMax } from '../../src/store/sqlite/writer.ts'
import { listAccounts } from '../../src/store/tenancy/projects.ts'
import { createDataFolder } from '../support/database/data-folder.ts'
import { openTestStore } from '../support/database/engine.ts'

async function addAccount(tx: Tx, name: string): Promise<void> {
  const row = { accountId: name, name, createdAtUtc: new Date().toISOString() }
  await tx.run(tx.build.insertInto('accounts').values(row))
}

/** Jobs that start in one turn of the event loop share a transaction. */
async function runJobs(store: Store, names: readonly string[]): Promise<readonly string[]> {
  const results = await Promise.allSettled(
    names.map((name) =>
      store.write(async (tx) => {
        await addAccount(tx, name)
        if (name.startsWith('failed')) throw new Error(name)
        return name
      }),
    ),
  )
  return results.map((result) =>
    result.status === 'fulfilled' ? result.value : String(result.reason.message),
  )
}

for (const [title, names] of [
  ['The writes of a job that throws alone are rolled back', ['failed']],
  [
    'A job that throws does not roll back the jobs of its transaction',
    ['first', 'failed', 'second', 'failed again'],
  ],
] as const)
  test(title, async () => {
    const dataDir = await createDataFolder()
    const store = await openTestStore(dataDir)
    assert.deepEqual(await runJobs(store, names), names)
    assert.deepEqual(await runJobs(store, ['later']), ['later'])
    const stored = (await listAccounts(store.db)).map(({ name }) => name)
    const expected = [...names.filter((name) => !name.startsWith('failed')), 'later']
    assert.deepEqual(stored.toSorted(), expected.toSorted())
    await store.close()
    await rm(dataDir, { recursive: true })
  })

test('A job that waits for a long one runs in a later turn of the event loop, in the order of the calls', async () => {
  const dataDir = await createDataFolder()
  const store = await openTestStore(dataDir)
  let turn = 0
  const countTurns = (): void => {
    turn += 1
    timer = setImmediate(countTurns)
  }
  let timer = setImmediate(countTurns)
  const names = ['first', 'second', 'third']
  const runs = await Promise.all(
    names.map((name) =>
      store.write(async (tx) => {
        await addAccount(tx, name)
        const endMs = performance.now() + 2 * turnMsMax
        while (performance.now() < endMs);
        return { name, turn }
      }),
    ),
  )
  clearImmediate(timer)
  assert.equal(new Set(runs.map((run) => run.turn)).size, names.length)
  assert.deepEqual(
    runs.toSorted((a, b) => a.turn - b.turn).map(({ name }) => name),
    names,
  )
  await store.close()
  await rm(dataDir, { recursive: true })
})

test('A job of another account does not wait for all jobs of a busy one', async () => {
  const dataDir = await createDataFolder()
  const store = await openTestStore(dataDir)
  const order: string[] = []
  const run = (accountId: string) =>
    runAsAccount(accountId, () => store.write(() => order.push(accountId)))
  await Promise.all(['busy', 'busy', 'busy', 'other', 'other'].map(run))
  assert.deepEqual(order, ['busy', 'other', 'busy', 'other', 'busy'])
  await store.close()
  await rm(dataDir, { recursive: true })
})
