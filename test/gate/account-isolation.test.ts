import assert from 'node:assert/strict'
import { test } from 'node:test'
import { z } from 'zod'
import { defineAction } from '../../src/actions/action.ts'
import type { ReadTx, Store } from '../../src/store/database.ts'
import { seedAccount } from '../support/database/account-rows.ts'
import { startGate } from '../support/gate/test-gate.ts'
import { postgresSkipReason, sharedPostgresServer } from '../support/database/postgres-server.ts'

/** Reads all accounts without a filter: row-level security limits the result. */
async function visibleAccountNames({ build, run }: ReadTx): Promise<string[]> {
  return (await run(build.selectFrom('accounts').select('name'))).map(({ name }) => name)
}

test(
  'A call can only read and write rows in the account of its key',
  { skip: postgresSkipReason ?? false },
  async () => {
    await using database = await (await sharedPostgresServer()).createDatabase()
    let store: Store | undefined
    const listAccounts = defineAction({
      name: 'svc.listAccounts',
      summary: 'List the visible accounts.',
      price: () => 1,
      params: z.strictObject({}),
      value: z.object({ whileRunning: z.array(z.string()), whileWriting: z.array(z.string()) }),
      errors: [],
      example: { params: {}, value: { whileRunning: [], whileWriting: [] } },
      run: async () => {
        const whileRunning = (await store?.read(visibleAccountNames)) ?? []
        return {
          effect: async (tx) => {
            const value = { whileRunning, whileWriting: await visibleAccountNames(tx) }
            return [{ correlationId: undefined, value }]
          },
        }
      },
    })
    const environment = { DATABASE_URL: database.url }
    await using gate = await startGate({
      environment,
      actions: new Map([[listAccounts.name, listAccounts]]),
    })
    store = gate.database.store
    await seedAccount(store, 'other')
    const { body } = await gate.post({ action: 'svc.listAccounts', params: {} })
    const own = (await store.read(visibleAccountNames)).filter((name) => name !== 'other')
    assert.equal(own.length, 1)
    assert.deepEqual(body.data.results[0].value, { whileRunning: own, whileWriting: own })
  },
)
