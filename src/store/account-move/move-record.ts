import { prepare, type QueryRunner } from '../postgres/connection/statement.ts'

/** The record of a move: `out` in the database that the account leaves, `in` in the other one. */
export type AccountMove = {
  readonly moveId: string
  readonly direction: 'in' | 'out'
  readonly accountId: string
  /** The other database, without its password. */
  readonly otherDatabase: string
  readonly startedAtUtc: string
  /** null: the account is not in the target yet. */
  readonly completedAtUtc: string | null
  /** null: the source still contains the frozen copy. */
  readonly removedAtUtc: string | null
}

const selectOpen = prepare<AccountMove>(
  `select * from "accountMoves"
   where "accountId" = :accountId and direction = 'out' and "removedAtUtc" is null`,
)
const selectMove = prepare<AccountMove>(
  `select * from "accountMoves" where "moveId" = :moveId and direction = 'in'`,
)
const selectAll = prepare<AccountMove>('select * from "accountMoves" order by "startedAtUtc"')
const insertMove = prepare(
  `insert into "accountMoves" ("moveId", direction, "accountId", "otherDatabase", "startedAtUtc",
     "completedAtUtc")
   values (:moveId, :direction, :accountId, :otherDatabase, :startedAtUtc, :completedAtUtc)`,
)
const setCompleted = prepare(
  `update "accountMoves" set "completedAtUtc" = :atUtc where "moveId" = :moveId and direction = 'out'`,
)
const setRemoved = prepare(
  `update "accountMoves" set "removedAtUtc" = :atUtc where "moveId" = :moveId and direction = 'out'`,
)
const deleteMove = prepare(
  `delete from "accountMoves" where "moveId" = :moveId and direction = 'out'`,
)

/** Returns the move out of this database whose frozen copy is still here. */
export function findOpenMove(on: QueryRunner, accountId: string): Promise<AccountMove | undefined> {
  return selectOpen.first(on, { accountId })
}

/** Returns the record of a move in its target; undefined: the account was not copied. */
export function findArrival(on: QueryRunner, moveId: string): Promise<AccountMove | undefined> {
  return selectMove.first(on, { moveId })
}

export function listMoves(on: QueryRunner): Promise<readonly AccountMove[]> {
  return selectAll.all(on, {})
}

export async function addMove(
  on: QueryRunner,
  move: Omit<AccountMove, 'removedAtUtc'>,
): Promise<void> {
  await insertMove.run(on, move)
}

export async function completeMove(on: QueryRunner, moveId: string, atUtc: string): Promise<void> {
  await setCompleted.run(on, { moveId, atUtc })
}

export async function endMove(on: QueryRunner, moveId: string, atUtc: string): Promise<void> {
  await setRemoved.run(on, { moveId, atUtc })
}

export async function cancelMove(on: QueryRunner, moveId: string): Promise<void> {
  await deleteMove.run(on, { moveId })
}

const tryLock = prepare<{ readonly isLocked: boolean }>(
  `select pg_try_advisory_xact_lock(hashtextextended('move of account ' || :accountId, 0)) as "isLocked"`,
)
const lock = prepare(
  `select pg_advisory_xact_lock(hashtextextended('move of account ' || :accountId, 0))`,
)

/** @throws Error if another process moves the account or removes its copy. */
export async function requireMoveLock(on: QueryRunner, accountId: string): Promise<void> {
  if (!(await tryLock.first(on, { accountId }))?.isLocked)
    throw new Error(`another process is moving the account ${accountId}; wait until it ends`)
}

/** Waits until a killed process of the same move has ended in the target. */
export async function waitForMoveLock(on: QueryRunner, accountId: string): Promise<void> {
  await lock.run(on, { accountId })
}
