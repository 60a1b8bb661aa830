import { setImmediate as nextTurn } from 'node:timers/promises'
import { mapSequential } from '../../lib/account-context.ts'
import type { Clock } from '../../lib/clock.ts'
import { ActionError, invalidRequest } from '../../lib/errors.ts'
import { newId } from '../../lib/ids.ts'
import type { ReadTx, Store, Tx } from '../../store/database.ts'
import type { MatchVerdict, MatchVerdictRow, SubjectRow } from '../../store/gallery-schema.ts'
import {
  type MatchedCall,
  type VerdictFilter,
  insertMatches,
  countVerdicts,
  findMatches,
  findReportedProjects,
  setVerdict,
} from '../../store/gallery/feedback/match-verdicts.ts'
import { findGallery, lockGallery } from '../../store/gallery/galleries.ts'
import { findProjectSwitches } from '../../store/tenancy/projects.ts'
import type { Template } from '../../vision/embed/template.ts'
import type { SubjectKeys } from '../keys/keyring.ts'
import { encryptTemplate } from '../keys/template-encryption.ts'

/** A face that matched a subject, and the template by which it did. */
export type MatchedFace = Pick<MatchVerdictRow, 'resultIndex' | 'faceIndex'> & {
  readonly subject: SubjectRow
  readonly template: Template
}

/** The verdict about a match. A call with one match needs no selection. */
export type MatchDecision = {
  readonly resultIndex?: number | undefined
  readonly faceIndex?: number | undefined
  /** The subject that the face matched, to prevent mistakes. */
  readonly subjectId?: string | undefined
  readonly verdict: MatchVerdict
}

type FeedbackOptions = {
  readonly keys: SubjectKeys
  /** How long a match can be confirmed or denied. */
  readonly feedbackMs: number
  readonly clock: Clock
}

export function createFeedback({ keys, feedbackMs, clock }: FeedbackOptions) {
  return {
    /** Stores matches that can be confirmed or denied. The gallery must be locked. */
    store: async (tx: Tx, call: MatchedCall, faces: readonly MatchedFace[]): Promise<void> => {
      const accountId = (await findGallery(tx, call.galleryId))?.accountId ?? ''
      const times = { matchedAtMs: clock(), expiresAtMs: clock() + feedbackMs }
      const rows = await mapSequential(faces, async ({ subject, template, ...position }) => {
        const verdictId = newId()
        const ids = { ...call, subjectId: subject.subjectId, modelId: template.modelId }
        const binding = { ...ids, accountId, faceId: verdictId }
        const ciphertext = encryptTemplate(await keys.unwrap(tx, subject), binding, template)
        return { verdictId, ...ids, ...position, ...times, ciphertext, verdict: null }
      })
      await insertMatches(tx, rows)
    },
    /** How long a match can be confirmed or denied. */
    windowMs: feedbackMs,
    /** Finds the matches of a call that have a verdict or can still get one. */
    find: (reading: ReadTx, call: MatchedCall) => findMatches(reading, call, clock()),
    /** Confirms or denies a match: see `decideMatch`. */
    decide: (tx: Tx, call: MatchedCall, decision: MatchDecision) =>
      decideMatch(tx, call, decision, clock()),
    report: reportVerdicts,
  }
}

/**
 * Confirms or denies a match. The same verdict again changes nothing, a confirmation ends a denial.
 * Locks the gallery in exclusive mode.
 *
 * @returns the match with its verdict.
 * @throws ActionError MATCH_NOT_FOUND, or INVALID_REQUEST.
 */
export async function decideMatch(
  tx: Tx,
  call: MatchedCall,
  decision: MatchDecision,
  nowMs: number,
): Promise<MatchVerdictRow> {
  await lockGallery(tx, call.galleryId, 'exclusive')
  const { verdict } = decision
  const match = selectMatch(await findMatches(tx, call, nowMs), decision)
  if (!match) throw await unknownMatch(tx, call)
  if (match.verdict === verdict) return match
  if (match.verdict === 'confirmed')
    throw invalidRequest(
      'body.verdict: the match was confirmed before, which deleted the template of the face; deny a match of a later call',
    )
  const decided = { ...match, verdict, ...(verdict === 'confirmed' && { ciphertext: null }) }
  await setVerdict(tx, decided)
  return decided
}

export type VerdictReport = Awaited<ReturnType<typeof reportVerdicts>>

/** The most groups of a report. */
export const reportedGroupsMax = 200

/**
 * Counts verdicts by project and by group, those with the most verdicts first, with the observed
 * false-match rate of each. Each read counts a limited number of verdicts.
 */
export async function reportVerdicts({ read }: Pick<Store, 'read'>, filter: VerdictFilter) {
  const { fromMs: firstMs = 0, toMs = Number.MAX_SAFE_INTEGER } = filter
  type Counts = Awaited<ReturnType<typeof countVerdicts>>['counts'][number]
  const sums = new Map<
    string,
    Counts & { readonly projectId: string; readonly projectName: string }
  >()
  for (const project of await read((tx) => findReportedProjects(tx, filter)))
    for (let fromMs = firstMs; fromMs < toMs; await nextTurn()) {
      const period = { ...project, fromMs, toMs }
      const { counts, endMs } = await read((tx) => countVerdicts(tx, period))
      for (const { group, confirmed, denied } of counts) {
        const key = JSON.stringify([project.projectId, ...(group === undefined ? [] : [group])])
        const sum = sums.get(key) ?? { confirmed: 0, denied: 0 }
        const added = { confirmed: sum.confirmed + confirmed, denied: sum.denied + denied }
        sums.set(key, { ...project, group, ...added })
      }
      fromMs = endMs
    }
  const sorted = [...sums.values()].toSorted(
    (a, b) => b.confirmed + b.denied - (a.confirmed + a.denied) || (nameOf(a) < nameOf(b) ? -1 : 1),
  )
  const projects = sorted.filter(({ group }) => group === undefined)
  const groups = sorted.flatMap(({ group, ...row }) =>
    group === undefined ? [] : { ...row, group },
  )
  return {
    projects: projects.map(({ group: _group, ...row }) => withRate(row)),
    groups: groups.slice(0, reportedGroupsMax).map(withRate),
  }
}

function nameOf({
  projectName,
  group,
}: {
  projectName: string
  group?: string | null | undefined
}) {
  return JSON.stringify([projectName, group ?? ''])
}

type VerdictCounts = { readonly confirmed: number; readonly denied: number }

/** The quantile of the normal distribution for an interval of 95 %. */
const z = 1.959964

/**
 * Adds the share of denied matches with its score interval of 95 %: E. B. Wilson, Probable inference,
 * the law of succession, and statistical inference, J. Am. Stat. Assoc. 22 (1927), 209-212. The
 * interval is also usable for few verdicts, and for none or all denied.
 *
 * @param counts at least one verdict.
 */
export function withRate<Counts extends VerdictCounts>(counts: Counts) {
  const verdicts = counts.confirmed + counts.denied
  const rate = counts.denied / verdicts
  const scale = 1 + z ** 2 / verdicts
  const centre = (rate + z ** 2 / (2 * verdicts)) / scale
  const variance = (rate * (1 - rate)) / verdicts + z ** 2 / (4 * verdicts ** 2)
  const margin = (z / scale) * Math.sqrt(variance)
  const interval = { low: Math.max(0, centre - margin), high: Math.min(1, centre + margin) }
  return { ...counts, falseMatchRate: { observed: rate, ...interval } }
}

/**
 * @returns undefined if the call has no match.
 * @throws ActionError INVALID_REQUEST unless the decision selects one.
 */
function selectMatch(
  matches: readonly MatchVerdictRow[],
  { resultIndex, faceIndex, subjectId }: MatchDecision,
): MatchVerdictRow | undefined {
  if (matches.length === 0) return undefined
  const ofImage = matches.filter((one) => one.resultIndex === (resultIndex ?? one.resultIndex))
  const [match, ...others] = ofImage.filter((one) => one.faceIndex === (faceIndex ?? one.faceIndex))
  if (!match || others.length > 0) {
    const positions = matches.map((one) => `${one.resultIndex} with faceIndex ${one.faceIndex}`)
    const field = ofImage.length > 0 ? 'faceIndex' : 'resultIndex'
    throw invalidRequest(
      `body.${field}: must select one match; the call matched resultIndex ${positions.join(', ')}`,
    )
  }
  if (subjectId !== undefined && subjectId.toLowerCase() !== match.subjectId)
    throw invalidRequest('body.subjectId: the face matched another subject')
  return match
}

async function unknownMatch(tx: Tx, { projectId }: MatchedCall): Promise<ActionError> {
  return (await findProjectSwitches(tx, projectId)).feedback
    ? new ActionError(
        'MATCH_NOT_FOUND',
        'body.requestId: the call has no match that can be confirmed or denied.',
      )
    : invalidRequest(
        'body.requestId: feedback is off in this project, so that no match can be confirmed or denied; switch it on with `facegate project set <project> --feedback on`',
      )
}
