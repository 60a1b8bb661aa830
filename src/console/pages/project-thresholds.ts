import { z } from 'zod'
import { countChangedDecisions } from '../../store/gate/changed-decisions.ts'
import { defineRead } from '../server/console-route.ts'
import { count, invalidField } from '../server/input.ts'
import { requireProject } from '../server/require-project.ts'
import { dayMs } from '../../lib/clock.ts'

const periodDays = 30

/**
 * Outside these thresholds most people are matched wrongly or missed, so that a change is confirmed:
 * at 0.70 one of 1,000 pairs of different people matches (docs/recognition/calibration.md).
 */
const usualThresholds = { min: 0.7, below: 0.97 }

/** Counts the decisions of the last 30 days that another threshold would change. */
export const previewThreshold = defineRead({
  path: '/projects/:projectId/threshold-decisions',
  query: z.strictObject({
    threshold: z
      .string()
      .regex(/^(?:0(?:\.\d{1,4})?|1(?:\.0{1,4})?)$/u, 'must be a number from 0 to 1')
      .transform(Number),
  }),
  response: z.object({
    days: z.int(),
    calls: count.meta({ description: 'Decisions of svc.identify among the latest 30,000 calls.' }),
    isCapped: z.boolean(),
    matches: count.meta({ description: 'Those of them with a match.' }),
    newMatches: count.meta({ description: 'Calls without a match that would have one.' }),
    lostMatches: count.meta({ description: 'Calls with a match that would have none.' }),
  }),
  handle: async (call) => {
    const { query, services } = call
    const fromMs = services.clock() - periodDays * dayMs
    return services.store.read(async (tx) => {
      const { projectId } = await requireProject(tx, call)
      const { threshold } = query
      return {
        days: periodDays,
        ...(await countChangedDecisions(tx, { projectId, threshold, fromMs })),
      }
    })
  },
})

/** @throws ValidationError if a threshold that is rarely intended is not repeated. */
export function requireConfirmedThreshold(
  threshold: number | null | undefined,
  confirmed: number | undefined,
): void {
  if (threshold === null || threshold === undefined || threshold === confirmed) return
  const { min, below } = usualThresholds
  if (threshold >= min && threshold < below) return
  const message = `must repeat the threshold, because it is below ${min} or at least ${below}`
  throw invalidField('body.confirmedThreshold', message)
}
