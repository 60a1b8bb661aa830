import { z } from 'zod'
import { dayOf, formatUtc } from '../../../lib/clock.ts'
import * as matchDays from '../../../store/gallery/feedback/match-days.ts'
import { findProjectNames } from '../../../store/tenancy/project-summaries.ts'
import { defineRead } from '../../server/console-route.ts'
import { count } from '../../server/input.ts'
import { requireSubject } from './subjects.ts'

/** On how many calls of a day a subject was matched. Several projects can share its gallery. */
export const getMatchDays = defineRead('/projects/:projectId/subjects/:subjectId/match-days', {
  response: z.object({
    lastDay: z.string().meta({ description: 'The current day, UTC.' }),
    dayCount: count.meta({ description: 'The number of days that are kept.' }),
    // All of the account, in the order of their colours.
    projects: z.array(z.object({ projectId: z.string(), name: z.string() })),
    items: z.array(z.object({ projectId: z.string(), day: z.string(), matches: count })),
  }),
  handle: (call) =>
    call.services.store.read(async (tx) => ({
      lastDay: dayOf(formatUtc(call.services.clock())),
      dayCount: matchDays.matchDaysKept,
      projects: await findProjectNames(tx, call.identity.accountId),
      items: await matchDays.listMatchDays(tx, (await requireSubject(tx, call)).subjectId),
    })),
})
