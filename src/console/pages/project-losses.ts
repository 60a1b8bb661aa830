import { z } from 'zod'
import { HttpError } from '../../lib/errors.ts'
import { sweepIntervalMs } from '../../lib/limits/sweep-limits.ts'
import { dayMs, formatUtc } from '../../lib/clock.ts'
import { countCrops } from '../../store/gallery/crops.ts'
import { countUnseenSubjects } from '../../store/gallery/subjects.ts'
import type { ProjectSummary } from '../../store/tenancy/project-summaries.ts'
import type { ReadTx } from '../../store/database.ts'
import { requireProject } from '../server/require-project.ts'
import { defineRead } from '../server/console-route.ts'
import { count } from '../server/input.ts'
import type { ConsoleServices } from '../services.ts'

/** A time without activity after which subjects are deleted. */
export const retentionDays = z.int().min(1).max(36_500)

const boundedCount = z.object({ total: count, isCapped: z.boolean() })

/** Counts what a change of the settings of a project would delete. */
export const previewLosses = defineRead({
  path: '/projects/:projectId/losses',
  query: z.strictObject({
    retentionDays: z
      .union([
        z.literal('default'),
        z.string().regex(/^\d+$/u).transform(Number).pipe(retentionDays),
      ])
      .optional()
      .meta({ description: 'The new retention: a number of days, or `default`.' }),
  }),
  response: z.object({
    crops: boundedCount.meta({ description: 'Deleted when storeCrops is switched off.' }),
    retention: z
      .object({
        days: z.int(),
        previousDays: z.int(),
        beforeUtc: z.string().meta({ description: 'Subjects without activity since are deleted.' }),
        subjects: boundedCount,
        intervalS: z.number().meta({ description: 'The time between two runs of the deletion.' }),
      })
      .optional(),
  }),
  handle: async (call) => {
    const { query, services } = call
    const isDefault = query.retentionDays === 'default'
    const days = isDefault ? services.defaults.retentionDays : query.retentionDays
    return services.store.read(async (tx) => {
      const project = await requireProject(tx, call)
      const crops = await countCrops(tx, project.projectId)
      if (typeof days !== 'number') return { crops }
      const retention = await retentionLosses(tx, { project, days, services })
      return { crops, retention }
    })
  },
})

type RetentionChange = {
  readonly project: ProjectSummary
  readonly days: number
  readonly services: ConsoleServices
}

async function retentionLosses(tx: ReadTx, { project, days, services }: RetentionChange) {
  const beforeUtc = formatUtc(services.clock() - days * dayMs)
  const { projectId } = project
  return {
    days,
    previousDays: project.retentionDays ?? services.defaults.retentionDays,
    beforeUtc,
    subjects: await countUnseenSubjects(tx, { projectId, beforeUtc }),
    intervalS: sweepIntervalMs / 1000,
  }
}

/** The numbers of `losses` that the user confirmed. A missing number is 0. */
export const confirmedLosses = z.strictObject({
  crops: count.optional(),
  subjects: count.optional(),
})

export type LossyChange = {
  readonly switches?: { readonly storeCrops?: boolean | undefined } | undefined
  readonly retentionDays?: number | null | undefined
}

type ConfirmedChange = {
  readonly project: ProjectSummary
  readonly change: LossyChange
  readonly confirmed: z.output<typeof confirmedLosses> | undefined
  readonly services: ConsoleServices
}

/** @throws HttpError 409 if the change would delete more crops or subjects than confirmed. */
export async function requireConfirmedLosses(
  tx: ReadTx,
  { project, change, confirmed, services }: ConfirmedChange,
): Promise<void> {
  if (change.switches?.storeCrops === false) {
    const { total } = await countCrops(tx, project.projectId)
    requireConfirmed(total, confirmed?.crops, 'stored crops')
  }
  const { retentionDays: newDays } = change
  if (newDays === undefined) return
  const days = newDays ?? services.defaults.retentionDays
  const { previousDays, subjects } = await retentionLosses(tx, { project, days, services })
  if (days < previousDays) requireConfirmed(subjects.total, confirmed?.subjects, 'subjects')
}

function requireConfirmed(total: number, confirmed = 0, things: string): void {
  if (total <= confirmed) return
  throw new HttpError(
    409,
    `This change would delete ${total} ${things}, but ${confirmed} were confirmed. Check the number, then confirm again.`,
  )
}
