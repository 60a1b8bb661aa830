import assert from 'node:assert/strict'
import { test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { lockGallery } from '../../src/store/gallery/galleries.ts'
import { openStoreAt } from '../support/database/engine.ts'
import { postgresSkipReason, sharedPostgresServer } from '../support/database/postgres-server.ts'

/** Longer than the statement timeout. */
const lockHeldMs = 2500

test(
  'A transaction may wait for a gallery’s lock longer than the statement timeout',
  { skip: postgresSkipReason ?? false },
  async () => {
    await using database = await (await sharedPostgresServer()).createDatabase()
    const store = await openStoreAt(database.url)
    const order: string[] = []
    const first = store.write(async (tx) => {
      await lockGallery(tx, 'g', 'exclusive')
      order.push('first locked')
      await sleep(lockHeldMs)
      order.push('first done')
    })
    while (order.length === 0) await sleep(5)
    const later = (['exclusive', 'shared'] as const).map((mode) =>
      store.write(async (tx) => {
        await lockGallery(tx, 'g', mode)
        order.push(mode)
        // After the lock the usual statement timeout applies again.
        const query = tx.build.selectNoFrom((row) =>
          row.fn<string>('current_setting', [row.val('statement_timeout')]).as('limit'),
        )
        return (await tx.run(query))[0]?.limit
      }),
    )
    await first
    assert.deepEqual(await Promise.all(later), ['2s', '2s'])
    assert.deepEqual(order.slice(0, 2), ['first locked', 'first done'])
    await store.close()
  },
)
