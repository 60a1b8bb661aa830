import assert from 'node:assert/strict'
import { test } from 'node:test'
import { addUserWithoutPassword, createSetupLink } from '../../../src/console/auth/setup.ts'
import type { Store } from '../../../src/store/database.ts'
import { turnMsMax } from '../../../src/store/sqlite/writer.ts'
import { createAccount } from '../../../src/store/tenancy/projects.ts'
import { assertOk, startConsole, validPassword } from '../../support/console/test-console.ts'
import type { ConsoleClient, TestConsole } from '../../support/console/test-console.ts'

/** Adds an account and returns its owner, who is signed in. */
async function addOtherOwner({ gallery, newClient }: TestConsole) {
  const { store } = gallery.database
  const accountId = await createAccount(store.db, 'other', new Date())
  const token = await store.write(async (tx) => {
    const user = { name: 'Otto', role: 'owner', accountId } as const
    const { userId } = await addUserWithoutPassword(tx, user, Date.now())
    return createSetupLink(tx, userId, Date.now())
  })
  const owner = newClient()
  assertOk(await owner.send('POST', '/setup', { token, password: validPassword }))
  return { accountId, owner }
}

/**
 * Returns a store whose changes take longer than a turn may. After `hold`, the first change waits for
 * `release`, and records are kept of all.
 */
function createSlowChanges() {
  const runs: { readonly accountId: string | undefined; readonly turn: number }[] = []
  const held = Promise.withResolvers<void>()
  let isHeld = false
  let waiting = 0
  let onWaiting = (): void => {}
  let turn = 0
  const countTurn = (): void => {
    turn += 1
    timer = setImmediate(countTurn)
  }
  let timer: NodeJS.Immediate | undefined
  const runSlowly = async <T>(accountId: string | undefined, change: () => Promise<T>) => {
    await held.promise
    runs.push({ accountId, turn })
    const endMs = performance.now() + 2 * turnMsMax
    while (performance.now() < endMs);
    return change()
  }
  return {
    runs,
    wrapStore: (store: Store): Store => ({
      ...store,
      runExclusive: (job, accountId) => {
        if (!isHeld) return store.runExclusive(job, accountId)
        const change = store.runExclusive(
          (transaction) => runSlowly(accountId, () => job(transaction)),
          accountId,
        )
        waiting += 1
        onWaiting()
        return change
      },
    }),
    hold: () => {
      isHeld = true
      countTurn()
    },
    release: () => held.resolve(),
    /** Resolves when this many changes wait or run. */
    untilWaiting: (count: number) => {
      const { promise, resolve } = Promise.withResolvers<void>()
      onWaiting = () => {
        if (waiting >= count) resolve()
      }
      onWaiting()
      return promise
    },
    [Symbol.dispose]: () => clearImmediate(timer),
  }
}

test('Parallel changes run in separate turns of the event loop, and accounts take turns', async () => {
  using changes = createSlowChanges()
  await using testConsole = await startConsole({
    environment: { DATABASE_URL: '' },
    wrapStore: changes.wrapStore,
  })
  const other = await addOtherOwner(testConsole)
  const invite = async (owner: ConsoleClient, name: string) =>
    assertOk(await owner.send('POST', '/users', { name, role: 'viewer' }))
  changes.hold()
  const names = ['Ada', 'Ben', 'Cleo', 'Dan', 'Eve', 'Finn']
  const invited = names.map((name) => invite(testConsole.owner, name))
  await changes.untilWaiting(names.length)
  invited.push(invite(other.owner, 'Gus'))
  await changes.untilWaiting(names.length + 1)
  changes.release()
  await Promise.all(invited)
  const { runs } = changes
  assert.equal(new Set(runs.map(({ turn }) => turn)).size, invited.length, JSON.stringify(runs))
  const position = runs.findIndex(({ accountId }) => accountId === other.accountId)
  // One change ran already, and one of the first account may be before it.
  assert.ok(position > 0 && position <= 2, JSON.stringify(runs))
})
