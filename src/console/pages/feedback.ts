import { z } from 'zod'
import type { VerdictReport } from '../../gallery/feedback/feedback.ts'
import type { ReadTx } from '../../store/database.ts'
import type { LoggedCall } from '../../store/gate/calls.ts'
import { findProjectSummaries, type ProjectSummary } from '../../store/tenancy/project-summaries.ts'
import { defineRead, defineWrite, type ConsoleContext } from '../server/console-route.ts'
import { listFilter } from '../server/define-list.ts'
import { count, id, requireCall, requireProject, timeRange } from '../server/input.ts'

const decidedMatch = z.object({
  resultIndex: count,
  faceIndex: count,
  subjectId: id,
  verdict: z.enum(['confirmed', 'denied']),
})

/** The matches of one call that have a verdict or can get one. */
export const callFeedback = z.object({
  matches: z.array(
    decidedMatch.extend({
      displayName: z.string().nullable(),
      externalId: z.string().nullable(),
      verdict: decidedMatch.shape.verdict.nullable(),
    }),
  ),
  absence: z
    .enum(['feedbackIsOff', 'windowEnded', 'notStored'])
    .nullable()
    .meta({ description: 'Why no match of a call that matched can be confirmed or denied.' }),
})

export async function readFeedback(
  tx: ReadTx,
  call: LoggedCall,
  { identity, services: { subjects, clock } }: Pick<ConsoleContext, 'identity' | 'services'>,
): Promise<z.input<typeof callFeedback>> {
  const [project] = await findProjectSummaries(tx, identity.accountId, call.projectId)
  const { find, windowMs } = subjects.feedback
  const found = project ? await find(tx, matchedCall(call, project)) : []
  // After the replay window another call may have used the id again.
  const own = found.filter(({ matchedAtMs }) => Math.abs(matchedAtMs - call.atMs) < windowMs)
  const ids = own.map(({ subjectId }) => subjectId)
  const rows = await subjects.findByIds(tx, project?.galleryId ?? '', ids)
  const matches = own.flatMap((match) => {
    const subject = rows.find(({ subjectId }) => subjectId === match.subjectId)
    // The schema selects the fields of both.
    return subject ? { ...subject, ...match } : []
  })
  const isAbsent =
    matches.length === 0 && call.action === 'svc.identify' && isMatch.has(call.outcome)
  if (!isAbsent) return { matches, absence: null }
  if (project?.feedback !== 1) return { matches, absence: 'feedbackIsOff' }
  return { matches, absence: clock() - call.atMs < windowMs ? 'notStored' : 'windowEnded' }
}

const isMatch: ReadonlySet<unknown> = new Set(['match', 'ambiguous'])

function matchedCall({ requestId, projectId }: LoggedCall, { galleryId }: ProjectSummary) {
  return { projectId, galleryId, requestId }
}

/**
 * Confirms or denies a match, as POST /v1/feedback does. The audit log is permanent and does not
 * contain the person of a call.
 */
export const decideMatch = defineWrite('/log/:callId/verdict', {
  auditAction: 'match.decide',
  body: decidedMatch.strict(),
  handle: async ({ body, services: { subjects }, ...context }, { tx }) => {
    const call = await requireCall(tx, context)
    const { projectId } = call
    const project = await requireProject(tx, { ...context, pathParameters: { projectId } })
    const match = matchedCall(call, project)
    await subjects.feedback.decide(tx, match, body)
    const { subjectId: _person, ...detail } = { projectId, ...body }
    return { response: undefined, target: match.requestId, detail }
  },
})

/** Counts the verdicts about matches of a period, by project and by group. */
export const countFeedback = defineRead('/analytics/feedback', {
  isLong: true,
  query: z.strictObject({ projectId: id.optional(), ...timeRange }),
  response: z.custom<VerdictReport>(),
  handle: async (call) => {
    const { store, subjects } = call.services
    return subjects.feedback.report(store, listFilter(call))
  },
})
