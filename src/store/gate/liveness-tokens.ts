import type { LivenessTokenRow } from '../schema.ts'
import type { ReadTx, Tx } from '../tx.ts'

type TokenKey = Pick<LivenessTokenRow, 'tokenHash' | 'projectId'> & { readonly nowMs: number }

export async function addLivenessToken(tx: Tx, token: LivenessTokenRow): Promise<void> {
  await tx.run(tx.build.insertInto('livenessTokens').values(token))
}

/** Finds a token that has not expired. */
export async function findLivenessToken(
  tx: ReadTx,
  { tokenHash, projectId, nowMs }: TokenKey,
): Promise<LivenessTokenRow | undefined> {
  const query = tx.build
    .selectFrom('livenessTokens')
    .selectAll()
    .where('tokenHash', '=', tokenHash)
    .where('projectId', '=', projectId)
    .where('expiresAtMs', '>', nowMs)
  return (await tx.run(query))[0]
}

/** @returns false if there is no such token: of concurrent calls only one deletes it. */
export async function spendLivenessToken(
  tx: Tx,
  { tokenHash, projectId, nowMs }: TokenKey,
): Promise<boolean> {
  const query = tx.build
    .deleteFrom('livenessTokens')
    .where('tokenHash', '=', tokenHash)
    .where('projectId', '=', projectId)
    .where('expiresAtMs', '>', nowMs)
    .returning('projectId')
  return (await tx.run(query)).length > 0
}

/** Deletes tokens that expired at `beforeMs` or earlier. @returns the number, at most the limit. */
export async function deleteExpiredTokens(
  tx: Tx,
  { beforeMs, limit }: { readonly beforeMs: number; readonly limit: number },
): Promise<number> {
  const expired = tx.build
    .selectFrom('livenessTokens')
    .select('tokenHash')
    .where('expiresAtMs', '<=', beforeMs)
    .limit(limit)
  const query = tx.build
    .deleteFrom('livenessTokens')
    .where('tokenHash', 'in', expired)
    .returning('projectId')
  return (await tx.run(query)).length
}
