import assert from 'node:assert/strict'
import { test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { lockGallery } from '../../src/store/gallery/galleries.ts'
import { openStore } from '../../src/store/open-store.ts'
import { postgresSkipReason, sharedPostgresServer } from '../support/database/postgres-server.ts'

/** More than any statement may take. */
const lockHeldMs = 2500

test(
  'whoever waits for the turn in a gallery may wait longer than a statement may take',
  { skip: postgresSkipReason ?? false },
  async () => {
    await using database = await (await sharedPostgresServer()).createDatabase()
    const store = await openStore({ dataDir: '', databaseUrl: database.url })
    const order: string[] = []
    const first = store.write(async (tx) => {
      await lockGallery(tx, 'g', 'exclusive')
      order.push('first has it')
      await sleep(lockHeldMs)
      order.push('first is through')
    })
    while (order.length === 0) await sleep(5)
    const later = (['exclusive', 'shared'] as const).map((mode) =>
      store.write(async (tx) => {
        await lockGallery(tx, 'g', mode)
        order.push(mode)
        // From then on a statement may take no longer than usual.
        const asked = tx.build.selectNoFrom((row) =>
          row.fn<string>('current_setting', [row.val('statement_timeout')]).as('limit'),
        )
        return (await tx.run(asked))[0]?.limit
      }),
    )
    await first
    assert.deepEqual(await Promise.all(later), ['2s', '2s'])
    assert.deepEqual(order.slice(0, 2), ['first has it', 'first is through'])
    await store.close()
  },
)
