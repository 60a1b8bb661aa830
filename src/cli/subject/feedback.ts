import { type VerdictReport, decideMatch, reportVerdicts } from '../../gallery/feedback/feedback.ts'
import { ActionError } from '../../lib/errors.ts'
import type { MatchVerdict } from '../../store/gallery-schema.ts'
import { type CommandValues, formatRows, print } from '../command.ts'
import { findProjectId, withStore } from '../with-store.ts'
import { changeGallery } from './subjects.ts'

type ShowValues = CommandValues<never, 'project'> &
  Readonly<Record<'from' | 'to', Date | undefined>>

/** Prints the confirmed and denied matches of all projects or of one, also by group. */
export async function showFeedback({ project, from, to, json }: ShowValues): Promise<void> {
  const report = await withStore(async (store) => {
    const period = { fromMs: from?.getTime(), toMs: to?.getTime() }
    const filter = { ...period, projectId: await findProjectId(store, project) }
    return reportVerdicts(store, filter)
  })
  const percent = (share: number): string => `${(100 * share).toFixed(1)} %`
  const rows: readonly (VerdictReport['projects'][number] & { group?: string | null })[] = [
    ...report.projects,
    ...report.groups,
  ]
  print(report, json, () =>
    formatRows(rows, {
      project: 'projectName',
      group: ({ group }) => (group === undefined ? '(all)' : (group ?? '(none)')),
      confirmed: 'confirmed',
      denied: 'denied',
      'false matches': ({ falseMatchRate }) => percent(falseMatchRate.observed),
      '95 % interval': ({ falseMatchRate: { low, high } }) => `${percent(low)} to ${percent(high)}`,
    }),
  )
}

type DecisionValues = CommandValues<'project' | 'requestId'> &
  Readonly<Record<'result-index' | 'face-index', number | undefined>>

/** Confirms or denies a match, as POST /v1/feedback does. */
export async function decide(verdict: MatchVerdict, values: DecisionValues): Promise<void> {
  const { project, requestId, 'result-index': resultIndex, 'face-index': faceIndex, json } = values
  const decision = { resultIndex, faceIndex, verdict }
  const decided = await changeGallery(project, 'match.decide', async (context) => {
    const { tx, galleryId, projectId, nowMs } = context
    const call = { projectId, galleryId, requestId }
    const match = await decideMatch(tx, call, decision, nowMs).catch(throwForOptions)
    // The audit log is permanent and does not contain the person of a call.
    const detail = { verdict, resultIndex: match.resultIndex, faceIndex: match.faceIndex }
    const result = { requestId: match.requestId, ...detail, subjectId: match.subjectId }
    return { result, target: match.requestId, detail }
  })
  print(decided, json, () => `${verdict} that the face is ${decided.subjectId}`)
}

/** Names the option of the command instead of the field of the API. */
function throwForOptions(error: unknown): never {
  if (!(error instanceof ActionError)) throw error
  const text = error.message.replace(/^body\.(?:requestId|verdict): /u, '')
  throw new Error(text.replace(/^body\.(face|result)Index/u, '--$1-index'), { cause: error })
}
