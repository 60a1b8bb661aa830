import { isLockTimeout } from '../postgres/connection/fault.ts'
import { prepare, type QueryRunner } from '../postgres/connection/kysely-driver.ts'
import type { MigrationTarget } from '../sqlite-to-postgres/target.ts'
import { accountTables } from '../sqlite-to-postgres/tables.ts'
import { ownedBy, readAccountIds, type AccountIds } from './copy-account.ts'

const setFrozen = prepare(
  'update projects set "isFrozen" = :isFrozen where "accountId" = :accountId',
)
const deleteSessions = prepare(
  `delete from sessions where "userId" in (select "userId" from users where "accountId" = :accountId)`,
)
const deleteLinks = prepare(
  `delete from links where "userId" in (select "userId" from users where "accountId" = :accountId)`,
)

/** Rejects new calls of the account (503) and signs its users out. Running calls continue. */
export async function rejectCalls(on: QueryRunner, accountId: string): Promise<void> {
  await setFrozen.run(on, { accountId, isFrozen: 1 })
  await deleteSessions.run(on, { accountId })
  await deleteLinks.run(on, { accountId })
}

/**
 * The longest wait for the locks of all tables. Writers wait behind it, so it is short. It is below the
 * second after which PostgreSQL ends one of several transactions that wait for each other.
 */
const lockTimeoutMs = 500

const countRunning = prepare<{ readonly calls: number }>(
  `select count(*) as calls from attempts join projects using ("projectId")
   where "accountId" = :accountId and state = 'running'`,
)

/** Returns the number of running calls of the account. */
export async function countRunningCalls(on: QueryRunner, accountId: string): Promise<number> {
  return (await countRunning.first(on, { accountId }))?.calls ?? 0
}

/**
 * Makes every write of the account fail, whichever process or version tries it: triggers compare each
 * row with the ids of the account. They cost other accounts almost nothing, because the condition is
 * evaluated without a function. Locking the tables first waits for running transactions.
 *
 * @returns false if a call was admitted meanwhile, or the locks were not available in time; nothing
 *   is frozen then.
 */
export async function tryFreezeWrites(
  source: MigrationTarget,
  accountId: string,
): Promise<boolean> {
  try {
    return await source.write((on) => freezeWrites(on, accountId))
  } catch (error) {
    const isBusy = error instanceof Error && isLockTimeout(error.cause)
    if (isBusy) return false
    throw error
  }
}

async function freezeWrites(on: QueryRunner, accountId: string): Promise<boolean> {
  if (await isFrozen(on, accountId)) return true
  const names = accountTables.map(({ name }) => `"${name}"`).join(', ')
  await on.run({ text: `set local lock_timeout = ${lockTimeoutMs}` })
  await on.run({ text: `lock table ${names} in share row exclusive mode` })
  if ((await countRunningCalls(on, accountId)) > 0) return false
  const ids = await readAccountIds(on, accountId)
  for (const text of triggers(accountId, ids)) await on.run({ text })
  return true
}

function triggers(accountId: string, ids: AccountIds): string[] {
  return accountTables.flatMap(({ name, column, onDelete }) => {
    const ofNew = ownedBy(ids, column, 'new.')
    const ofOld = ownedBy(ids, column, 'old.')
    if (ofNew === undefined) return [] // The parent of such a row cannot be added either.
    return [
      `create trigger "${triggerPrefix(accountId)}_write" before insert or update on "${name}"
        for each row when (${ofNew}) execute function "rejectFrozen"('reject')`,
      `create trigger "${triggerPrefix(accountId)}_delete" before delete on "${name}"
        for each row when (${ofOld}) execute function "rejectFrozen"('${onDelete}')`,
    ]
  })
}

function triggerPrefix(accountId: string): string {
  return `frozen_${accountId}`
}

const selectTriggers = prepare<{ readonly table: string; readonly name: string }>(
  `select relname as table, tgname as name from pg_trigger join pg_class c on c.oid = tgrelid
   where starts_with(tgname, :prefix) and tgparentid = 0
     and relnamespace = current_schema()::regnamespace`,
)

/** Whether all writes of the account fail already. */
async function isFrozen(on: QueryRunner, accountId: string): Promise<boolean> {
  const prefix = triggerPrefix(accountId)
  return (await selectTriggers.first(on, { prefix })) !== undefined
}

/** Permits the writes of the account again. */
export async function dropTriggers(on: QueryRunner, accountId: string): Promise<void> {
  for (const { table, name } of await selectTriggers.all(on, { prefix: triggerPrefix(accountId) }))
    await on.run({ text: `drop trigger "${name}" on "${table}"` })
}

/** Ends the freeze: calls of the account are processed again. */
export async function unfreeze(on: QueryRunner, accountId: string): Promise<void> {
  await dropTriggers(on, accountId)
  await setFrozen.run(on, { accountId, isFrozen: 0 })
}
