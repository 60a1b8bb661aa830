import { z } from 'zod'
import { beginDeletion, deleteProject, findContents } from '../../gate/delete-project.ts'
import { HttpError } from '../../lib/errors.ts'
import { sweepIntervalMs } from '../../lib/limits/sweep-limits.ts'
import { dayMs, formatUtc } from '../../lib/clock.ts'
import { addAuditEntry } from '../../store/console/audit-log.ts'
import { countCrops } from '../../store/gallery/crops.ts'
import { findGallery } from '../../store/gallery/galleries.ts'
import { countUnseenSubjects } from '../../store/gallery/subjects.ts'
import { countNearMisses } from '../../store/gallery/feedback/near-miss-crops.ts'
import { countProjectVisitors } from '../../store/gallery/visitors.ts'
import type { ProjectSummary } from '../../store/tenancy/project-summaries.ts'
import type { ReadTx } from '../../store/database.ts'
import { defineRead, defineWrite } from '../server/console-route.ts'
import { count, micros, requireConfirmedName, requireProject } from '../server/input.ts'
import { toAuditEntry } from '../server/serve-route.ts'
import type { ConsoleServices } from '../services.ts'
import texts from '../field-texts.json' with { type: 'json' }

/** A time without activity after which subjects are deleted. */
export const retentionDays = z.int().min(1).max(36_500)
/** The same of visitors. */
export const visitorRetentionDays = z.int().min(1).max(90)

const boundedCount = z.object({ total: count, isCapped: z.boolean() })

/** What a change of a retention deletes. */
const retentionLoss = z
  .object({
    days: z.number(),
    previousDays: z.number(),
    beforeUtc: z.string().describe(texts.projectEffects.beforeUtc),
    deleted: boundedCount,
    intervalS: z.number().describe(texts.projectEffects.intervalS),
  })
  .optional()

/** Counts what a change of the settings of a project, or its deletion, would delete. */
export const previewLosses = defineRead('/projects/:projectId/losses', {
  isLong: true,
  query: z.strictObject({
    retentionDays: z
      .union([
        z.literal('default'),
        z.string().regex(/^\d+$/u).transform(Number).pipe(retentionDays),
      ])
      .optional()
      .describe(texts.projectEffects.retentionDays),
    visitorRetentionDays: z.coerce.number().pipe(visitorRetentionDays).optional(),
    // 0: they are switched off.
    nearMissHours: z.coerce.number().pipe(z.int().min(0).max(72)).optional(),
  }),
  response: z.object({
    crops: boundedCount.describe(texts.projectEffects.crops),
    deletion: z
      .object({ subjects: count, visitors: count, keys: count, webhooks: count })
      .describe(texts.projectEffects.deletion),
    retention: retentionLoss.describe(texts.projectEffects.retention),
    visitorRetention: retentionLoss.describe(texts.projectEffects.visitorRetention),
    nearMisses: retentionLoss.describe(texts.projectEffects.nearMisses),
  }),
  handle: async (call) => {
    const { query, services } = call
    const retentionDays = query.retentionDays === 'default' ? null : query.retentionDays
    const change = { ...query, retentionDays }
    return services.store.read(async (tx) => {
      const project = await requireProject(tx, call)
      return {
        crops: await countCrops(tx, project.projectId),
        deletion: await findContents(tx, project, new Date(services.clock())),
        ...(await retentionLosses(tx, { project, change, services })),
      }
    })
  },
})

/**
 * Deletes a project, in many transactions. The audit entry and the end of its access are committed
 * before the others.
 */
export const removeProject = defineWrite('/projects/:projectId', {
  method: 'DELETE',
  auditAction: 'project.delete',
  body: z.strictObject({ confirm: z.string().max(128) }),
  response: z.object({ subjects: count, returnedMicros: micros }),
  handle: async (call, change) => {
    const { store, clock, maintenance } = call.services
    const project = await requireProject(change.tx, call)
    const { name, projectId } = project
    requireConfirmedName(project, call.body.confirm)
    const contents = await beginDeletion(change, project, clock())
    const response = { subjects: contents.subjects, returnedMicros: '0' }
    return {
      response,
      target: projectId,
      detail: { name, ...contents },
      afterCommit: async () => {
        const returned = await deleteProject({
          store,
          project,
          clock,
          clear: maintenance.clear,
          clearVisitors: maintenance.clearVisitors,
          addEntry: (tx, entry) => addAuditEntry(tx, toAuditEntry(entry, call, entry)),
        })
        response.returnedMicros = String(returned)
      },
    }
  },
})

type RetentionChange = {
  readonly project: ProjectSummary
  readonly change: LossyChange
  readonly services: ConsoleServices
}

async function retentionLosses(tx: ReadTx, { project, change, services }: RetentionChange) {
  const { projectId } = project
  const { retentionDays: days } = change
  const { retentionDays: defaultDays } = services.defaults
  const lossesOf = async (
    days: number | undefined,
    previousDays: number,
    countUnseen: typeof countUnseenSubjects,
  ) => {
    if (days === undefined) return undefined
    const beforeUtc = formatUtc(services.clock() - days * dayMs)
    const deleted = await countUnseen(tx, { projectId, beforeUtc })
    return { days, previousDays, beforeUtc, deleted, intervalS: sweepIntervalMs / 1000 }
  }
  const ofSubjects = [
    days === null ? defaultDays : days,
    project.retentionDays ?? defaultDays,
  ] as const
  const ofVisitors = [change.visitorRetentionDays, project.visitorRetentionDays] as const
  const hours = change.switches?.nearMissCrops === false ? 0 : change.nearMissHours
  const ofNearMisses = [hours && hours / 24, project.nearMissHours / 24] as const
  return {
    retention: await lossesOf(...ofSubjects, countUnseenSubjects),
    visitorRetention: await lossesOf(...ofVisitors, countProjectVisitors),
    nearMisses: await lossesOf(...ofNearMisses, countNearMisses),
  }
}

/** The numbers of `losses` that the user confirmed. A missing number is 0. */
export const confirmedLosses = z.strictObject({
  crops: count.optional(),
  subjects: count.optional(),
  visitors: count.optional(),
  nearMisses: count.optional(),
})

export type LossyChange = {
  readonly switches?: Readonly<Partial<Record<'storeCrops' | 'nearMissCrops', boolean>>> | undefined
  readonly retentionDays?: number | null | undefined
  readonly visitorRetentionDays?: number | undefined
  readonly nearMissHours?: number | undefined
}

type ConfirmedChange = RetentionChange & {
  readonly confirmed: z.output<typeof confirmedLosses> | undefined
}

/** @throws HttpError 409 if the change would delete more than confirmed. */
export async function requireConfirmedLosses(
  tx: ReadTx,
  { project, change, confirmed, services }: ConfirmedChange,
): Promise<void> {
  if (change.switches?.storeCrops === false) {
    const { total } = await countCrops(tx, project.projectId)
    requireConfirmed(total, confirmed?.crops, 'stored crops')
  }
  const losses = await retentionLosses(tx, { project, change, services })
  for (const [loss, confirmedCount, things] of [
    [losses.retention, confirmed?.subjects, 'subjects'],
    [losses.visitorRetention, confirmed?.visitors, 'visitors'],
    [losses.nearMisses, confirmed?.nearMisses, 'pictures of near misses'],
  ] as const)
    if (loss && loss.days < loss.previousDays)
      requireConfirmed(loss.deleted.total, confirmedCount, things)
}

function requireConfirmed(total: number, confirmed = 0, things: string): void {
  if (total <= confirmed) return
  throw new HttpError(
    409,
    `This change would delete ${total} ${things}, but ${confirmed} were confirmed. Check the number, then confirm again.`,
  )
}

/** Returns what changes for a project if its gallery mode is switched. */
export const previewGalleryMode = defineRead('/projects/:projectId/gallery-mode-preview', {
  response: z.object({
    from: z.string(),
    to: z.string(),
    statement: z.string(),
    subjectsSeenNow: count,
    subjectsSeenThen: count,
  }),
  handle: async (call) =>
    call.services.store.read(async (tx) => {
      const project = await requireProject(tx, call)
      const to = project.galleryMode === 'isolated' ? 'shared' : 'isolated'
      const galleryIdThen = to === 'shared' ? project.accountId : project.projectId
      return {
        from: project.galleryMode,
        to,
        statement: galleryModeStatement(project, to),
        subjectsSeenNow: project.subjectCount,
        subjectsSeenThen: (await findGallery(tx, galleryIdThen))?.subjectCount ?? 0,
      }
    }),
})

/** Returns the effect of the switch in words. The request that switches the mode must repeat them. */
export function galleryModeStatement(
  { name }: Pick<ProjectSummary, 'name'>,
  to: ProjectSummary['galleryMode'],
): string {
  return to === 'shared'
    ? `After the switch, ${name} searches, lists and deletes in the gallery of all shared projects of the account, and these projects see the subjects it enrolls. Its own gallery is kept but hidden until the project is isolated again.`
    : `After the switch, ${name} searches, lists and deletes only in its own gallery. Subjects it enrolled in the shared gallery stay there: hidden from ${name}, visible to the other shared projects.`
}
