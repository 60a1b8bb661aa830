import { prepare, type QueryRunner } from '../postgres/connection/kysely-driver.ts'

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

/** Finds the move out of this database whose frozen copy is still here. */
export const findOpenMove = prepare<AccountMove>(
  `select * from "accountMoves"
   where "accountId" = :accountId and direction = 'out' and "removedAtUtc" is null`,
)
/** Finds the record of a move in its target; without it, the account was not copied. */
export const findArrival = prepare<AccountMove>(
  `select * from "accountMoves" where "moveId" = :moveId and direction = 'in'`,
)
/** Finds the newest move of an account into this database, if the account is active in it. */
export const findNewestArrival = prepare<AccountMove>(
  `select moves.* from "accountMoves" moves join accounts using ("accountId")
   where "accountId" = :accountId and direction = 'in' and not exists (
     select from "accountMoves" leaving where leaving."accountId" = moves."accountId"
       and leaving.direction = 'out' and leaving."removedAtUtc" is null)
   order by "startedAtUtc" desc limit 1`,
)
/** Finds a move of the account, in any direction, that started at this time or later. */
export const findMoveSince = prepare<AccountMove>(
  `select * from "accountMoves"
   where "accountId" = :accountId and "startedAtUtc" >= :startedAtUtc`,
)
/** Lists the moves out of this database whose frozen copies are still here. */
export const listOpenMoves = prepare<AccountMove>(
  `select * from "accountMoves" where direction = 'out' and "removedAtUtc" is null`,
)
export const addMove = prepare(
  `insert into "accountMoves" ("moveId", direction, "accountId", "otherDatabase", "startedAtUtc",
     "completedAtUtc")
   values (:moveId, :direction, :accountId, :otherDatabase, :startedAtUtc, :completedAtUtc)`,
)
export const completeMove = prepare(
  `update "accountMoves" set "completedAtUtc" = :atUtc where "moveId" = :moveId and direction = 'out'`,
)
export const endMove = prepare(
  `update "accountMoves" set "removedAtUtc" = :atUtc where "moveId" = :moveId and direction = 'out'`,
)
export const cancelMove = prepare(
  `delete from "accountMoves" where "moveId" = :moveId and direction = 'out'`,
)

const tryLock = prepare<{ readonly isLocked: boolean }>(
  `select pg_try_advisory_xact_lock(hashtextextended('move of account ' || :accountId, 0)) as "isLocked"`,
)
/** Waits until a killed process of the same move has ended in the target. */
export const waitForMoveLock = prepare(
  `select pg_advisory_xact_lock(hashtextextended('move of account ' || :accountId, 0))`,
)

/** @throws Error if another process moves the account or removes its copy. */
export async function requireMoveLock(on: QueryRunner, accountId: string): Promise<void> {
  if (!(await tryLock.first(on, { accountId }))?.isLocked)
    throw new Error(`another process is moving the account ${accountId}; wait until it ends`)
}
