import assert from 'node:assert/strict'
import { test } from 'node:test'
import { runAsAllAccounts } from '../../src/lib/account-context.ts'
import type { Tx } from '../../src/store/database.ts'
import { batchBytes } from '../../src/store/delete-in-batches.ts'
import { deleteProjectRows } from '../../src/store/tenancy/project-deletion.ts'
import { openStoreAt } from '../support/database/engine.ts'
import { postgresSkipReason, sharedPostgresServer } from '../support/database/postgres-server.ts'
import { createStoreFixture } from '../store/contract/store-fixture.ts'

test(
  'A batch keeps its limit if PostgreSQL joins its rows with a nested loop',
  { skip: postgresSkipReason ?? false },
  async () => {
    await using database = await (await sharedPostgresServer()).createDatabase()
    const store = await openStoreAt(database.url)
    await runAsAllAccounts(async () => {
      const { project, keyId } = await createStoreFixture(store)
      const { projectId } = project
      const call = { projectId, keyId, action: 'svc.detect', fingerprint: Buffer.alloc(32) }
      const terms = { token: 't', reservedMicros: 0n, deadlineMs: 0, windowStartMs: 0 }
      const result = { state: 'done', code: 'OK', response: Buffer.alloc(batchBytes + 1) } as const
      const attempts = ['r-1', 'r-2', 'r-3'].map((requestId) => {
        return { ...call, ...terms, ...result, requestId }
      })
      const count = await store.write(async (tx) => {
        await tx.run(tx.build.insertInto('attempts').values(attempts))
        await requireNestedLoops(tx)
        return deleteProjectRows(tx, 'attempts', projectId)
      })
      assert.equal(count, 1)
    })
    await store.close()
  },
)

/** Requires a plan for the rest of the transaction that repeats a subquery for each row. */
async function requireNestedLoops({ build, run }: Tx): Promise<void> {
  for (const plan of ['hashagg', 'hashjoin', 'material', 'mergejoin', 'sort']) {
    const query = build.selectNoFrom((row) =>
      row
        .fn<string>('set_config', [row.val(`enable_${plan}`), row.val('off'), row.val(true)])
        .as('setting'),
    )
    await run(query)
  }
}
