import assert from 'node:assert/strict'
import { test } from 'node:test'
import { runAsAccount, runAsAllAccounts } from '../../src/lib/account-context.ts'
import { openPostgresStore } from '../../src/store/postgres/open-postgres-store.ts'
import { postgresSkipReason, sharedPostgresServer } from '../support/database/postgres-server.ts'

const connectionsMax = 4

const writeCount = 20

for (const lockCount of [1, writeCount])
  test(
    `${writeCount} writes that wait for ${lockCount} locks leave connections to other accounts`,
    { skip: postgresSkipReason ?? false },
    async () => {
      await using database = await (await sharedPostgresServer()).createDatabase()
      await using stack = new AsyncDisposableStack()
      const openStore = async () => {
        const store = await openPostgresStore(database.url, { connectionsMax })
        stack.defer(() => store.close())
        return store
      }
      const [other, store] = [await openStore(), await openStore()]
      const lockOf = (index: number) => `gallery:${index % lockCount}`
      const [locked, released] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()]
      const holding = runAsAllAccounts(() =>
        other.write(async (tx) => {
          for (let index = 0; index < lockCount; index++) await tx.lock(lockOf(index), 'exclusive')
          locked.resolve()
          await released.promise
        }),
      )
      await locked.promise
      const writes = Array.from({ length: writeCount }, (_, index) =>
        runAsAccount('busy', () =>
          store.write(async (tx) => {
            await tx.lock(lockOf(index), 'exclusive')
            return index
          }),
        ),
      )
      const read = runAsAccount('other', () =>
        store.read((tx) => tx.run(tx.build.selectNoFrom((row) => row.val(1).as('one')))),
      )
      const rows = await read.finally(released.resolve)
      assert.equal(rows.length, 1)
      await holding
      assert.deepEqual(await Promise.all(writes), [...writes.keys()])
    },
  )
