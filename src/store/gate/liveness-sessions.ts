import type { Insertable, Selectable } from 'kysely'
import { galleryIdOf } from '../tenancy/projects.ts'
import { identityOf } from '../tenancy/keys.ts'
import { switchNames } from '../tenancy/switches.ts'
import type { LivenessSessionRow } from '../schema.ts'
import { type ReadTx, type Tx, sql } from '../database.ts'

/** A session without its frame, which can have some MB: `findFrame` reads it. */
export type LivenessSession = Omit<Selectable<LivenessSessionRow>, 'frame'> & {
  readonly hasFrame: number
}

type SessionOfProject = Pick<LivenessSessionRow, 'projectId' | 'sessionId'>

function selectSessions(tx: ReadTx) {
  return tx.build
    .selectFrom('livenessSessions')
    .select(['sessionId', 'projectId', 'keyId', 'requestId', 'stepCount', 'requireAngles', 'state'])
    .select(['attemptsLeft', 'requestsLeft', 'masterKeyId', 'wrapped', 'result', 'expiresAtMs'])
    .select(sql<number>`case when frame is null then 0 else 1 end`.as('hasFrame'))
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

/** Returns the encrypted frame of a session; null without one, or after a call has used it. */
export async function findFrame(tx: ReadTx, { projectId, sessionId }: SessionOfProject) {
  const query = tx.build
    .selectFrom('livenessSessions')
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
    .updateTable('livenessSessions')
    .set({ frame: null })
    .where('projectId', '=', projectId)
    .where('sessionId', '=', sessionId)
    .where('frame', 'is not', null)
    .where('expiresAtMs', '>', nowMs)
    .returning('sessionId')
  return (await tx.run(query)).length > 0
}

/** Lists the wrapped secrets of all sessions. */
export function listSessionSecrets(tx: ReadTx) {
  const columns = ['sessionId', 'projectId', 'masterKeyId', 'wrapped'] as const
  return tx.run(tx.build.selectFrom('livenessSessions').select(columns))
}

/** The tables of liveness with the names of their keys. */
const keyColumns = {
  livenessChallenges: 'challengeId',
  livenessSessions: 'sessionId',
} as const

/** Deletes rows that expired at `beforeMs` or earlier. @returns the number, at most the limit. */
export async function deleteExpiredRows(
  { build, run }: Tx,
  table: keyof typeof keyColumns,
  { beforeMs, limit }: { readonly beforeMs: number; readonly limit: number },
): Promise<number> {
  const key = build.dynamic.ref(keyColumns[table])
  const expired = build.selectFrom(table).select(key).where('expiresAtMs', '<=', beforeMs)
  const query = build.deleteFrom(table).where(key, 'in', expired.limit(limit)).returning(key)
  return (await run(query)).length
}
