import type { Selectable } from 'kysely'
import type { SecondFactorRow } from '../console-schema.ts'
import type { ReadTx, Tx } from '../database.ts'

export type SecondFactor = Selectable<SecondFactorRow>

/** Replaces the second factor of a user with one that sign-in does not require yet. */
export async function replaceSecondFactor(
  tx: Tx,
  factor: Pick<SecondFactor, 'userId' | 'masterKeyId' | 'wrapped'>,
): Promise<void> {
  await removeSecondFactor(tx, factor.userId)
  await tx.run(tx.build.insertInto('secondFactors').values(factor))
}

export async function findSecondFactor(tx: ReadTx, userId: string) {
  const query = tx.build.selectFrom('secondFactors').selectAll().where('userId', '=', userId)
  return (await tx.run(query))[0]
}

export function listSecondFactors(tx: ReadTx): Promise<readonly SecondFactor[]> {
  return tx.run(tx.build.selectFrom('secondFactors').selectAll())
}

export async function rewrapSecondFactor(
  tx: Tx,
  userId: string,
  wrapped: Pick<SecondFactorRow, 'masterKeyId' | 'wrapped'>,
): Promise<void> {
  await tx.run(tx.build.updateTable('secondFactors').set(wrapped).where('userId', '=', userId))
}

/** Confirms the second factor with the time step of its first code. */
export async function confirmSecondFactor(tx: Tx, userId: string, step: number): Promise<void> {
  const query = tx.build.updateTable('secondFactors').set({ isConfirmed: 1, lastStep: step })
  await tx.run(query.where('userId', '=', userId))
}

/** Records the use of a code. @returns false if the code, or a later one, was used before. */
export async function useTimeStep(tx: Tx, userId: string, step: number): Promise<boolean> {
  const query = tx.build
    .updateTable('secondFactors')
    .set({ lastStep: step })
    .where('userId', '=', userId)
    .where('lastStep', '<', step)
  return (await tx.run(query.returning('userId'))).length > 0
}

/** Deletes the second factor and the recovery codes of a user. */
export async function removeSecondFactor(tx: Tx, userId: string): Promise<void> {
  await tx.run(tx.build.deleteFrom('secondFactors').where('userId', '=', userId))
  await tx.run(tx.build.deleteFrom('recoveryCodes').where('userId', '=', userId))
}

/** Replaces all recovery codes of a user. */
export async function replaceRecoveryCodes(tx: Tx, userId: string, hashes: readonly Uint8Array[]) {
  await tx.run(tx.build.deleteFrom('recoveryCodes').where('userId', '=', userId))
  const rows = hashes.map((codeHash) => ({ userId, codeHash }))
  await tx.run(tx.build.insertInto('recoveryCodes').values(rows))
}

export async function countRecoveryCodes(tx: ReadTx, userId: string): Promise<number> {
  const query = tx.build.selectFrom('recoveryCodes').select('codeHash')
  return (await tx.run(query.where('userId', '=', userId))).length
}

/** Deletes a recovery code, which is valid once. @returns false if the user has no such code. */
export async function useRecoveryCode(tx: Tx, userId: string, codeHash: Uint8Array) {
  const query = tx.build
    .deleteFrom('recoveryCodes')
    .where('userId', '=', userId)
    .where('codeHash', '=', codeHash)
  return (await tx.run(query.returning('userId'))).length > 0
}
