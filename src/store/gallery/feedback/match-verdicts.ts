import { type ReadTx, type Tx, sql } from '../../database.ts'
import type { MatchVerdictRow } from '../../gallery-schema.ts'
import type { StoredTemplate } from '../templates.ts'

export async function addMatch({ build, run }: Tx, match: MatchVerdictRow): Promise<void> {
  await run(build.insertInto('matchVerdicts').values(match))
}

/** The matches of one call. Its id is in lower case. */
export type MatchedCall = Pick<MatchVerdictRow, 'projectId' | 'galleryId' | 'requestId'>

/** Finds the matches of a call that have a verdict or can still get one. */
export async function findMatches(
  { build, run }: ReadTx,
  { projectId, galleryId, requestId }: MatchedCall,
  nowMs: number,
): Promise<readonly MatchVerdictRow[]> {
  const query = build
    .selectFrom('matchVerdicts')
    .selectAll()
    .where('projectId', '=', projectId)
    .where('requestId', '=', requestId)
    .where('galleryId', '=', galleryId)
    .where((row) => row.or([row('expiresAtMs', 'is', null), row('expiresAtMs', '>', nowMs)]))
    .orderBy('matchedAtMs', 'desc')
    .orderBy('resultIndex')
    .orderBy('faceIndex')
  const found = await run(query)
  // After the replay window another call may have used the id again.
  return found.filter(({ matchedAtMs }) => matchedAtMs === found[0]?.matchedAtMs)
}

/** Stores a verdict. Without a ciphertext, the template of the face is deleted. */
export async function setVerdict(
  { build, run }: Tx,
  { verdictId, subjectId, verdict, ciphertext }: MatchVerdictRow,
): Promise<void> {
  const change = build
    .updateTable('matchVerdicts')
    .set({ verdict, ciphertext, expiresAtMs: null })
    .where('verdictId', '=', verdictId)
  await run(change)
  // The key of the subject could decrypt a deleted template in an older copy of the database.
  const flags = ciphertext === null ? { needsNewKey: 1 as const } : { hasDenials: 1 as const }
  await run(build.updateTable('subjects').set(flags).where('subjectId', '=', subjectId))
}

/** Returns those of the subjects that have denials. */
export async function findDeniedSubjects(
  { build, run }: ReadTx,
  subjectIds: readonly string[],
): Promise<readonly string[]> {
  if (subjectIds.length === 0) return []
  const query = build.selectFrom('subjects').select('subjectId').where('hasDenials', '=', 1)
  return (await run(query.where('subjectId', 'in', subjectIds))).map(({ subjectId }) => subjectId)
}

/** Denials of a subject that have an effect: the newest ones. */
export const denialsPerSubject = 20

/**
 * A template of a searched face. It is bound to the id of its row, as that of a stored face is to the
 * id of the face.
 */
type VerdictTemplate = StoredTemplate & Pick<MatchVerdictRow, 'verdict'>

/** Finds the templates of denied matches of a subject, the newest first. */
export function findDenials(tx: ReadTx, subjectId: string): Promise<readonly VerdictTemplate[]> {
  const query = selectTemplates(tx, subjectId)
    // A literal, so that both engines use the partial index.
    .where(sql<boolean>`v.verdict = 'denied'`)
    .orderBy('v.matchedAtMs', 'desc')
    .orderBy('v.verdictId')
  return tx.run(query.limit(denialsPerSubject))
}

/** Finds the templates of all matches of a subject. */
export function findMatchTemplates(
  tx: ReadTx,
  subjectId: string,
): Promise<readonly VerdictTemplate[]> {
  return tx.run(selectTemplates(tx, subjectId))
}

function selectTemplates({ build }: ReadTx, subjectId: string) {
  return build
    .selectFrom('matchVerdicts as v')
    .innerJoin('subjects', 'subjects.subjectId', 'v.subjectId')
    .select(['v.verdictId as faceId', 'v.galleryId', 'v.modelId', 'v.ciphertext', 'v.verdict'])
    .select(['v.subjectId', 'subjects.keyId', 'subjects.wrappedKey', 'subjects.expiresAtUtc'])
    .where('v.subjectId', '=', subjectId)
    .where('v.ciphertext', 'is not', null)
    .$narrowType<{ ciphertext: Uint8Array }>()
}

export async function replaceVerdictCiphertext(
  { build, run }: Tx,
  { verdictId, ciphertext }: Pick<MatchVerdictRow, 'verdictId' | 'ciphertext'>,
): Promise<void> {
  const change = build.updateTable('matchVerdicts').set({ ciphertext })
  await run(change.where('verdictId', '=', verdictId))
}

type VerdictMove = { readonly to: string; readonly verdictIds: readonly string[] }

/** Moves matches to a subject. Their ciphertexts must be those of that subject. */
export async function moveVerdicts({ build, run }: Tx, { to, verdictIds }: VerdictMove) {
  if (verdictIds.length === 0) return
  const move = build.updateTable('matchVerdicts').set({ subjectId: to })
  await run(move.where('verdictId', 'in', verdictIds))
  await run(build.updateTable('subjects').set({ hasDenials: 1 }).where('subjectId', '=', to))
}
