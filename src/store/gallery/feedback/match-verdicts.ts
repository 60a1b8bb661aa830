import { randomInt } from 'node:crypto'
import { formatUtc } from '../../../lib/clock.ts'
import { type ReadTx, type Tx, sql } from '../../database.ts'
import { ManyRowsError, batchRows, deleteBatch } from '../../delete-in-batches.ts'
import type { MatchVerdictRow } from '../../gallery-schema.ts'
import { isUnexpired } from '../expired-subjects.ts'
import { endOldest } from '../duplicates/subject-merges.ts'

/**
 * The most matches of a subject that can still get a verdict. A merge, a key rotation and a deletion
 * process all of them in one transaction.
 */
export const undecidedPerSubjectMax = 1_000

/** The most subjects of a call whose oldest matches are ended: this reads all matches of a subject. */
const trimmedSubjectsMax = 10

/**
 * Inserts the matches of a call, and ends the oldest ones of subjects beyond the limit. With many
 * subjects, these are drawn, so that their number of matches stays close to the limit.
 */
export async function insertMatches(tx: Tx, matches: readonly MatchVerdictRow[]): Promise<void> {
  const { build, run } = tx
  const subjects = matches.map(({ galleryId, subjectId }) => ({
    matchedId: subjectId,
    galleryId,
    subjectId,
  }))
  const addition = build.insertInto('matchedSubjects').values(subjects)
  await run(addition.onConflict((conflict) => conflict.doNothing()))
  const rows = matches.map(({ subjectId, ...match }) => {
    return { ...match, matchedId: subjectId, requestId: match.requestId.toLowerCase() }
  })
  await run(build.insertInto('matchVerdicts').values(rows))
  const ids = [...new Set(matches.map(({ subjectId }) => subjectId))]
  const start = randomInt(ids.length)
  const drawn = [...ids.slice(start), ...ids.slice(0, start)].slice(0, trimmedSubjectsMax)
  for (const ownerId of drawn)
    await endOldest(tx, 'matchVerdicts', { ownerId, kept: undecidedPerSubjectMax })
}

/**
 * Returns the first of the subjects, as many as one transaction can process: at least one, and no others
 * beyond that number of matches together.
 */
export async function limitByMatches<Subject extends Pick<MatchVerdictRow, 'subjectId'>>(
  { build, run }: ReadTx,
  subjects: readonly Subject[],
): Promise<readonly Subject[]> {
  if (subjects.length < 2) return subjects
  const ids = subjects.map(({ subjectId }) => subjectId)
  const query = selectMatches(build).where('m.subjectId', 'in', ids).groupBy('m.subjectId')
  const rows = await run(query.select(['m.subjectId', sql<number>`count(*)`.as('matches')]))
  const counts = new Map(rows.map(({ subjectId, matches }) => [subjectId, matches]))
  let sum = 0
  return subjects.filter(({ subjectId }, index) => {
    sum += counts.get(subjectId) ?? 0
    return index === 0 || sum <= undecidedPerSubjectMax
  })
}

/** Matches with their subjects. */
function selectMatches(build: ReadTx['build']) {
  return build
    .selectFrom('matchedSubjects as m')
    .innerJoin('matchVerdicts as v', 'v.matchedId', 'm.matchedId')
}

/** The matches of one call. Its id is compared without case. */
export type MatchedCall = Pick<MatchVerdictRow, 'projectId' | 'galleryId' | 'requestId'>

/** Finds the matches of a call with unexpired subjects that have a verdict or can still get one. */
export async function findMatches(
  { build, run }: ReadTx,
  { projectId, galleryId, requestId }: MatchedCall,
  nowMs: number,
): Promise<readonly MatchVerdictRow[]> {
  const query = selectMatches(build)
    .innerJoin('subjects', 'subjects.subjectId', 'm.subjectId')
    .selectAll('v')
    .select('m.subjectId')
    .where('v.projectId', '=', projectId)
    .where('requestId', '=', requestId.toLowerCase())
    .where('v.galleryId', '=', galleryId)
    .where(isUnexpired(formatUtc(nowMs)))
    .where((row) => row.or([row('expiresAtMs', 'is', null), row('expiresAtMs', '>', nowMs)]))
    .orderBy('matchedAtMs', 'desc')
    .orderBy('resultIndex')
    .orderBy('faceIndex')
  const found = await run(query)
  // After the replay window another call may have used the id again.
  return found.filter(({ matchedAtMs }) => matchedAtMs === found[0]?.matchedAtMs)
}

/**
 * Stores a verdict. Without a ciphertext, the template of the face is deleted. A denial also deletes
 * the templates of the denials that have no effect any more; their verdicts are still counted.
 */
export async function setVerdict(
  tx: Tx,
  { verdictId, subjectId, verdict, ciphertext }: MatchVerdictRow,
): Promise<void> {
  const { build, run } = tx
  const change = build
    .updateTable('matchVerdicts')
    .set({ verdict, ciphertext, expiresAtMs: null })
    .where('verdictId', '=', verdictId)
  await run(change)
  const query = selectTemplates(tx, subjectId, 'denied').offset(denialsPerSubject)
  const older = (await run(query.limit(idsPerStatement))).map(({ faceId }) => faceId)
  if (older.length > 0) {
    const removal = build.updateTable('matchVerdicts').set({ ciphertext: null })
    await run(removal.where('verdictId', 'in', older))
  }
  const flags = {
    hasDenials: denialFlag,
    // The key of the subject could decrypt a deleted template in an older copy of the database.
    ...((ciphertext === null || older.length > 0) && { needsNewKey: 1 as const }),
  }
  await run(build.updateTable('subjects').set(flags).where('subjectId', '=', subjectId))
}

/** The ids of one statement: databases limit its parameters. */
const idsPerStatement = 1_000

/** The value of `hasDenials` that the matches of a subject require. */
const denialFlag = sql<0 | 1>`case when exists (select 1 from "matchedSubjects" m
  join "matchVerdicts" v on v."matchedId" = m."matchedId" where m."subjectId" = subjects."subjectId"
  and v.verdict = 'denied' and v.ciphertext is not null) then 1 else 0 end`

/** Whether any subject of a gallery has denials; 0 or 1 on SQLite. */
export const anyDenials = (galleryId: string) => sql<boolean>`exists (select 1 from subjects d
  where d."galleryId" = ${galleryId} and d."hasDenials" = 1)`

/** Returns those of the subjects that have denials. */
export async function findDeniedSubjects({ build, run }: ReadTx, subjectIds: readonly string[]) {
  if (subjectIds.length === 0) return []
  const query = build.selectFrom('subjects').select('subjectId').where('hasDenials', '=', 1)
  return (await run(query.where('subjectId', 'in', subjectIds))).map(({ subjectId }) => subjectId)
}

/** Denials of a subject that have an effect: the newest ones. */
export const denialsPerSubject = 20

/** Finds the templates of denied matches of a subject that have an effect, the newest first. */
export async function findDenials(tx: ReadTx, subjectId: string) {
  return tx.run(selectTemplates(tx, subjectId, 'denied').limit(denialsPerSubject))
}

/** Finds the templates of all matches of a subject, or of the denied ones. */
export function findMatchTemplates(tx: ReadTx, subjectId: string, only?: 'denied') {
  return tx.run(selectTemplates(tx, subjectId, only))
}

/** A template is bound to the id of its row, as that of a stored face is to the id of the face. */
function selectTemplates({ build }: ReadTx, subjectId: string, only?: 'denied') {
  const templates = selectMatches(build)
    .innerJoin('subjects', 'subjects.subjectId', 'm.subjectId')
    .select(['v.verdictId as faceId', 'v.galleryId', 'v.modelId', 'v.ciphertext', 'v.verdict'])
    .select(['v.matchedId', 'm.subjectId'])
    .select(['subjects.keyId', 'subjects.wrappedKey', 'subjects.expiresAtUtc'])
    .where('m.subjectId', '=', subjectId)
    .where('v.ciphertext', 'is not', null)
    .orderBy('v.matchedAtMs', 'desc')
    .orderBy('v.verdictId')
    .$narrowType<{ ciphertext: Uint8Array }>()
  // A literal, so that both engines use the partial index.
  return only ? templates.where(sql<boolean>`v.verdict = 'denied'`) : templates
}

export async function replaceVerdictCiphertext(
  { build, run }: Tx,
  { verdictId, ciphertext }: Pick<MatchVerdictRow, 'verdictId' | 'ciphertext'>,
): Promise<void> {
  const change = build.updateTable('matchVerdicts').set({ ciphertext })
  await run(change.where('verdictId', '=', verdictId))
}

/** Finds the matches of a subject without their templates, the oldest first. */
export function findSubjectMatches({ build, run }: ReadTx, subjectId: string) {
  const query = selectMatches(build)
    .select(['verdictId', 'projectId', 'requestId', 'matchedAtMs', 'verdict'])
    .where('m.subjectId', '=', subjectId)
  return run(query.orderBy('matchedAtMs').orderBy('verdictId'))
}

/** Deletes the matches of a subject without a verdict. They have its own id. */
export async function removeUndecided({ build, run }: Tx, subjectId: string): Promise<void> {
  const undecided = build.deleteFrom('matchVerdicts').where('matchedId', '=', subjectId)
  await run(undecided.where('expiresAtMs', '>=', 0))
}

type VerdictMove = {
  readonly from: string
  readonly to: string
  /** The ids that the subject had at the matches; by default all. */
  readonly matchedIds?: readonly string[]
}

/** Moves decided matches to a subject. Their ciphertexts must be those of that subject. */
export async function moveVerdicts({ build, run }: Tx, { from, to, matchedIds }: VerdictMove) {
  const all = build
    .updateTable('matchedSubjects')
    .set({ subjectId: to })
    .where('subjectId', '=', from)
  await run(matchedIds ? all.where('matchedId', 'in', matchedIds) : all)
  const flag = build.updateTable('subjects').set({ hasDenials: denialFlag })
  await run(flag.where('subjectId', 'in', [from, to]))
}

/** Deletes the verdicts of a subject that are only counted. @throws ManyRowsError if more are left. */
export async function removeCountedVerdicts(tx: Tx, subjectId: string): Promise<void> {
  const ids = sql`select "matchedId" from "matchedSubjects" where "subjectId" = ${subjectId}`
  const isCounted = sql<boolean>`"matchedId" in (${ids}) and verdict is not null
    and ciphertext is null`
  const step = async (own: Tx) => (await deleteBatch(own, 'matchVerdicts', isCounted)) < batchRows
  if (!(await step(tx))) throw Object.assign(new ManyRowsError(), { step })
}

export type VerdictFilter = {
  readonly accountId?: string | undefined
  readonly projectId?: string | undefined
  /** The time of the match: from the first, before the second. */
  readonly fromMs?: number | undefined
  readonly toMs?: number | undefined
}

/** Finds the projects that a report contains, without deleted ones. */
export function findReportedProjects(
  { build, run }: ReadTx,
  { accountId, projectId }: Pick<VerdictFilter, 'accountId' | 'projectId'>,
) {
  let query = build
    .selectFrom('projects')
    .select(['projectId', 'name as projectName'])
    .where('deletedAtUtc', 'is', null)
  if (accountId !== undefined) query = query.where('accountId', '=', accountId)
  return run(projectId === undefined ? query : query.where('projectId', '=', projectId))
}

/** Verdicts that one read counts, each in the groups of its subject: on SQLite up to 20 ms. */
export const countedVerdicts = 500

type VerdictPeriod = { readonly projectId: string; readonly fromMs: number; readonly toMs: number }

/**
 * Counts the first verdicts of a project in a period, and returns where the next ones start. A match
 * counts in each group that its subject has now; the group is null if it has none, and undefined for the
 * project.
 */
export async function countVerdicts(
  { build, run }: ReadTx,
  { projectId, fromMs, toMs }: VerdictPeriod,
) {
  const following = build
    .selectFrom('matchVerdicts')
    .where('verdict', 'is not', null)
    .where('projectId', '=', projectId)
    .where('matchedAtMs', '>=', fromMs)
  const end = following.select('matchedAtMs').orderBy('matchedAtMs').offset(countedVerdicts)
  const [next] = await run(end.limit(1))
  // Verdicts of the same time are counted together.
  const endMs = Math.min(toMs, Math.max(next?.matchedAtMs ?? toMs, fromMs + 1))
  // A subject has many matches and many groups, so its matches are counted first.
  const ofSubjects = following
    .where('matchedAtMs', '<', endMs)
    .select(['projectId', 'matchedId'])
    .select(sql<number>`count(case verdict when 'confirmed' then 1 end)`.as('confirmed'))
    .select(sql<number>`count(case verdict when 'denied' then 1 end)`.as('denied'))
    .groupBy(['projectId', 'matchedId'])
  const counted = build
    .selectFrom(ofSubjects.as('v'))
    .select(sql<number>`sum(v.confirmed)`.as('confirmed'))
    .select(sql<number>`sum(v.denied)`.as('denied'))
    .groupBy('v.projectId')
  const byGroup = counted
    .innerJoin('matchedSubjects as m', 'm.matchedId', 'v.matchedId')
    .leftJoin('subjectGroups as g', 'g.subjectId', 'm.subjectId')
    .select('g.name as group')
    .groupBy('g.name')
  const ofProject = (await run(counted)).map((row) => ({ ...row, group: undefined }))
  return { endMs, counts: [...ofProject, ...(await run(byGroup))] }
}
