import type { Insertable, Selectable } from 'kysely'
import { deleteBatch } from '../delete-in-batches.ts'
import { galleryIdOf, isUnfrozen } from '../tenancy/projects.ts'
import { identityOf } from '../tenancy/keys.ts'
import { switchNames } from '../tenancy/switches.ts'
import type { LivenessFrameRow, LivenessSessionRow } from '../schema.ts'
import { type ReadTx, type Tx, sql } from '../database.ts'

/** A session. `findFrame` reads its frame, which can have some MB. */
export type LivenessSession = Selectable<LivenessSessionRow> & { readonly hasFrame: number }

type SessionOfProject = Pick<LivenessSessionRow, 'projectId' | 'sessionId'>

const hasFrame = sql<number>`(select count(*) from "livenessFrames" f
  where f."sessionId" = "livenessSessions"."sessionId")`

function selectSessions(tx: ReadTx) {
  return tx.build.selectFrom('livenessSessions').selectAll().select(hasFrame.as('hasFrame'))
}

export async function addLivenessSession(tx: Tx, session: Insertable<LivenessSessionRow>) {
  await tx.run(tx.build.insertInto('livenessSessions').values(session))
}

/** Finds the session of a project by its id, or by the requestId that created it. */
export async function findLivenessSession(
  tx: ReadTx,
  {
    projectId,
    nowMs,
    ...id
  }: { readonly projectId: string; readonly nowMs: number } & (
    | { readonly sessionId: string }
    | { readonly requestId: string }
  ),
): Promise<LivenessSession | undefined> {
  const query = selectSessions(tx)
    .where('projectId', '=', projectId)
    .where('expiresAtMs', '>', nowMs)
  const found =
    'sessionId' in id
      ? query.where('sessionId', '=', id.sessionId)
      : query.where('requestId', '=', id.requestId)
  return (await tx.run(found))[0]
}

/** A session, the caller of its key and the origins of its project. */
export type BrowserSession = NonNullable<Awaited<ReturnType<typeof findBrowserSession>>>

/** Finds a session of any project with the key that created it. */
export async function findBrowserSession(tx: ReadTx, sessionId: string, now: Date) {
  const [session] = await tx.run(
    selectSessions(tx).where('sessionId', '=', sessionId).where('expiresAtMs', '>', now.getTime()),
  )
  if (!session) return undefined
  const query = tx.build
    .selectFrom('keys')
    .innerJoin('projects', 'projects.projectId', 'keys.projectId')
    .select(['keyId', 'keys.projectId', 'accountId', 'galleryMode', 'permissions', ...switchNames])
    .select(['matchWebhooks', 'isFrozen', 'expiresAtUtc', 'revokedAtUtc', 'livenessOrigins'])
    .where('keyId', '=', session.keyId)
  const [row] = await tx.run(query)
  if (!row) return undefined
  // The session belongs to the key, not to one of its secrets: a rotation does not end it.
  const former = { formerEndsAtUtc: null, formerLastUsedAtUtc: null, isFormer: 0 } as const
  const identity = identityOf({ ...row, ...former, galleryId: galleryIdOf(row) }, now)
  return { session, identity, origins: row.livenessOrigins.split(' ').filter(Boolean) }
}

/** Counts a request of the browser. @returns false if the session has none left. */
export async function takeSessionRequest(tx: Tx, sessionId: string): Promise<boolean> {
  const query = tx.build
    .updateTable('livenessSessions')
    .set((row) => ({ requestsLeft: row('requestsLeft', '-', 1) }))
    .where('sessionId', '=', sessionId)
    .where('requestsLeft', '>', 0)
    .returning('sessionId')
  return (await tx.run(query)).length > 0
}

/** Stores how an attempt ended. */
export async function updateLivenessSession(
  tx: Tx,
  { projectId, sessionId }: SessionOfProject,
  change: Partial<Omit<Insertable<LivenessSessionRow>, keyof SessionOfProject>>,
): Promise<void> {
  await tx.run(
    tx.build
      .updateTable('livenessSessions')
      .set(change)
      .where('projectId', '=', projectId)
      .where('sessionId', '=', sessionId),
  )
}

/**
 * Stores the encrypted frame of a session, and removes the oldest frames of its project beyond
 * `bytesMax`, at most two batches. Use `lockChallenges` before.
 */
export async function addFrame(
  tx: Tx,
  frame: Omit<LivenessFrameRow, 'bytes'>,
  bytesMax: number,
): Promise<void> {
  const bytes = frame.frame.byteLength
  await tx.run(tx.build.insertInto('livenessFrames').values({ ...frame, bytes }))
  const isExcess = sql<boolean>`"sessionId" in (select "sessionId" from
    (select "sessionId", sum(bytes) over (order by "expiresAtMs" desc, "sessionId") as total
      from "livenessFrames" where "projectId" = ${frame.projectId}) as summed
    where total > ${bytesMax}) order by "expiresAtMs", "sessionId" desc`
  // Two batches have more bytes than a frame. After the limit was lowered, many frames are beyond it.
  for (const _batch of [1, 2]) await deleteBatch(tx, 'livenessFrames', isExcess)
}

/** Returns the encrypted frame of a session; null without one, or after a call has used it. */
export async function findFrame(tx: ReadTx, { projectId, sessionId }: SessionOfProject) {
  const query = tx.build
    .selectFrom('livenessFrames')
    .select('frame')
    .where('projectId', '=', projectId)
    .where('sessionId', '=', sessionId)
  return (await tx.run(query))[0]?.frame ?? null
}

/** @returns false if there is no frame: of concurrent calls only one removes it. */
export async function removeFrame(
  tx: Tx,
  { projectId, sessionId, nowMs }: SessionOfProject & { readonly nowMs: number },
): Promise<boolean> {
  const query = tx.build
    .deleteFrom('livenessFrames')
    .where('projectId', '=', projectId)
    .where('sessionId', '=', sessionId)
    .where('expiresAtMs', '>', nowMs)
    .returning('sessionId')
  return (await tx.run(query)).length > 0
}

/** Lists the wrapped secrets of all sessions. */
export function listSessionSecrets(tx: ReadTx) {
  const columns = ['sessionId', 'projectId', 'masterKeyId', 'wrapped'] as const
  return tx.run(tx.build.selectFrom('livenessSessions').select(columns))
}

/** Deletes a batch of rows that expired at `beforeMs` or earlier. @returns the number. */
export function deleteExpiredRows(
  tx: Tx,
  table: 'livenessChallenges' | 'livenessFrames' | 'livenessSessions',
  beforeMs: number,
): Promise<number> {
  return deleteBatch(tx, table, sql`"expiresAtMs" <= ${beforeMs} and ${isUnfrozen(table)}`)
}
