import type { Selectable } from 'kysely'
import { countRows } from '../lists.ts'
import type { LivenessChallengeRow } from '../schema.ts'
import type { ReadTx, Tx } from '../database.ts'

/** Makes all later changes of the project's challenges wait until the transaction ends. */
export function lockChallenges(tx: Tx, projectId: string): Promise<void> {
  return tx.lock(`liveness challenges ${projectId}`, 'exclusive')
}

type ChallengeKey = Pick<LivenessChallengeRow, 'challengeId' | 'projectId'>
type ChallengeOfProject = { readonly projectId: string; readonly nowMs: number }

export async function addChallenge(
  tx: Tx,
  challenge: ChallengeKey & Pick<LivenessChallengeRow, 'sessionId' | 'steps' | 'expiresAtMs'>,
): Promise<void> {
  await tx.run(tx.build.insertInto('livenessChallenges').values(challenge))
}

/** Finds the challenge of a session that is neither spent nor expired. */
export async function findOpenChallenge(
  tx: ReadTx,
  { sessionId, projectId, nowMs }: ChallengeOfProject & { readonly sessionId: string },
): Promise<Selectable<LivenessChallengeRow> | undefined> {
  const query = tx.build
    .selectFrom('livenessChallenges')
    .selectAll()
    .where('sessionId', '=', sessionId)
    .where('projectId', '=', projectId)
    .where('spentAtMs', 'is', null)
    .where('expiresAtMs', '>', nowMs)
  return (await tx.run(query))[0]
}

/** @returns false if the challenge is not open: of concurrent calls only one spends it. */
export async function spendChallenge(
  tx: Tx,
  { challengeId, projectId, nowMs, failed }: ChallengeKey & ChallengeOfProject & ChallengeResult,
): Promise<boolean> {
  const query = tx.build
    .updateTable('livenessChallenges')
    .set({ spentAtMs: nowMs, failed })
    .where('challengeId', '=', challengeId)
    .where('projectId', '=', projectId)
    .where('spentAtMs', 'is', null)
    .where('expiresAtMs', '>', nowMs)
    .returning('challengeId')
  return (await tx.run(query)).length > 0
}

type ChallengeResult = { readonly failed: 0 | 1 }

export function countOpenChallenges(tx: ReadTx, { projectId, nowMs }: ChallengeOfProject) {
  const open = tx.build
    .selectFrom('livenessChallenges')
    .select('challengeId')
    .where('projectId', '=', projectId)
    .where('spentAtMs', 'is', null)
    .where('expiresAtMs', '>', nowMs)
  return countRows(tx, open)
}

/** Returns the times of the project's newest failed challenges after `afterMs`, the newest first. */
export async function findFailureTimes(tx: ReadTx, { projectId, afterMs, limit }: FailureFilter) {
  const query = tx.build
    .selectFrom('livenessChallenges')
    .select('spentAtMs')
    .where('projectId', '=', projectId)
    // A literal, so that both engines use the partial index.
    .where((row) => row('failed', '=', row.lit(1)))
    .where('spentAtMs', '>', afterMs)
    .orderBy('spentAtMs', 'desc')
    .limit(limit)
  return (await tx.run(query)).map(({ spentAtMs }) => spentAtMs ?? 0)
}

type FailureFilter = {
  readonly projectId: string
  readonly afterMs: number
  readonly limit: number
}
