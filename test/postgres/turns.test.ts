import assert from 'node:assert/strict'
import { test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { holdGallery } from '../../src/store/galleries.ts'
import { openStore } from '../../src/store/database.ts'
import { postgresMissing, sharedServer } from '../postgres.ts'

/** More than any statement may take. */
const heldMs = 2500

test(
  'whoever waits for the turn in a gallery may wait longer than a statement may take',
  { skip: postgresMissing ?? false },
  async () => {
    await using database = await (await sharedServer()).freshDatabase()
    const store = await openStore({ dataDir: '', databaseUrl: database.url })
    const order: string[] = []
    const first = store.write(async (tx) => {
      await holdGallery(tx, 'g', 'alone')
      order.push('first has it')
      await sleep(heldMs)
      order.push('first is through')
    })
    while (order.length === 0) await sleep(5)
    const later = (['alone', 'together'] as const).map((mode) =>
      store.write(async (tx) => {
        await holdGallery(tx, 'g', mode)
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
