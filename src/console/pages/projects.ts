import { isDeepStrictEqual } from 'node:util'
import { z } from 'zod'
import { dayMs } from '../../lib/clock.ts'
import { HttpError } from '../../lib/errors.ts'
import { livenessOriginsMax } from '../../lib/limits/call-limits.ts'
import { isOrigin } from '../../lib/validation/text-forms.ts'
import { removeCrops } from '../../store/gallery/crops.ts'
import * as nearMisses from '../../store/gallery/feedback/near-miss-crops.ts'
import { countChangedDecisions } from '../../store/gate/changed-decisions.ts'
import { type ProjectSummary, findProjectSummaries } from '../../store/tenancy/project-summaries.ts'
import { createProject, findProject, updateProject } from '../../store/tenancy/projects.ts'
import { switchNames, switchesFromColumns } from '../../store/tenancy/switches.ts'
import { type ConsoleContext, defineRead, defineWrite } from '../server/console-route.ts'
import * as input from '../server/input.ts'
import * as effects from './project-effects.ts'
import texts from '../field-texts.json' with { type: 'json' }

const galleryMode = z.enum(['isolated', 'shared'])
const switchName = z.enum(switchNames)
const switches = z.record(switchName, z.boolean())

const origins = z
  .array(z.string().max(253).refine(isOrigin, 'must be an origin such as https://app.example.org'))
  .max(livenessOriginsMax)

const project = z.object({
  projectId: z.string(),
  name: z.string(),
  galleryMode,
  createdAtUtc: z.string(),
  sustainedPerS: z.int(),
  burst: z.int(),
  isSustainedDefault: z.boolean(),
  isBurstDefault: z.boolean(),
  retentionDays: z.int(),
  isRetentionDefault: z.boolean(),
  visitorRetentionDays: z.int(),
  nearMissHours: z.int(),
  identifyThreshold: z.number().nullable(),
  automaticThreshold: z.number().describe(texts.projects.automaticThreshold),
  livenessOrigins: origins,
  switches,
  budgetMicros: input.micros,
  reservedMicros: input.micros,
  keyCount: input.count,
  subjects: input.count,
  templates: input.count,
})

export const listProjects = defineRead('/projects', {
  response: z.object({ items: z.array(project) }),
  handle: async ({ identity, services }) => {
    const projects = await services.store.read((tx) => findProjectSummaries(tx, identity.accountId))
    return { items: projects.map((summary) => toProjectResponse(summary, services)) }
  },
})

export const getProject = defineRead('/projects/:projectId', {
  response: project,
  handle: async (call) => {
    const { store } = call.services
    return toProjectResponse(
      await store.read((tx) => input.requireProject(tx, call)),
      call.services,
    )
  },
})

export const addProject = defineWrite('/projects', {
  auditAction: 'project.create',
  body: z.strictObject({ name: input.name, galleryMode }),
  response: project,
  handle: async ({ body, identity, services }, { db, tx }) => {
    const { accountId } = identity
    if (await findProject(db, body.name, accountId)) throw nameConflict()
    const now = new Date(services.clock())
    const { projectId } = await createProject(db, { ...body, accountId }, now)
    const created = await input.requireProject(tx, { pathParameters: { projectId }, identity })
    return { response: toProjectResponse(created, services), target: projectId, detail: body }
  },
})

const settings = z.strictObject({
  name: input.name.optional(),
  sustainedPerS: z.int().min(1).max(10_000).nullable().optional(),
  burst: z.int().min(1).max(100_000).nullable().optional(),
  retentionDays: effects.retentionDays.nullable().optional(),
  visitorRetentionDays: effects.visitorRetentionDays.optional(),
  nearMissHours: z.int().min(1).max(72).optional(),
  identifyThreshold: z.number().min(0).max(1).nullable().optional(),
  livenessOrigins: origins.optional().describe(texts.projects.livenessOrigins),
  switches: z.partialRecord(switchName, z.boolean()).optional(),
  galleryMode: galleryMode.optional(),
})

type SettingsChange = z.output<typeof settings>

export const editProject = defineWrite('/projects/:projectId', {
  method: 'PATCH',
  auditAction: 'project.update',
  body: settings.extend({
    expected: settings.optional().describe(texts.projects.expected),
    confirmedLosses: effects.confirmedLosses.optional().describe(texts.projects.confirmedLosses),
    confirmedThreshold: z.number().optional().describe(texts.projects.confirmedThreshold),
    statement: z.string().optional().describe(texts.projects.statement),
  }),
  response: project.extend({ replaced: settings.describe(texts.projects.replaced) }),
  handle: async (call, { db, tx }) => {
    const { body, services } = call
    const before = await input.requireProject(tx, call)
    const { statement, confirmedLosses: confirmed, confirmedThreshold, expected, ...values } = body
    requireExpected(before, expected)
    requireConfirmedThreshold(values.identifyThreshold, confirmedThreshold)
    requireStatement(before, { galleryMode: values.galleryMode, statement })
    await requireFreeName(db, before, values.name)
    await effects.requireConfirmedLosses(tx, {
      project: before,
      change: values,
      confirmed,
      services,
    })
    const { projectId } = before
    const columns = { ...values, livenessOrigins: values.livenessOrigins?.join(' ') }
    const change = Object.fromEntries(
      Object.entries(columns).filter(([, value]) => value !== undefined),
    )
    await updateProject(db, projectId, change)
    await nearMisses.limitNearMisses(tx, projectId, change)
    const response = toProjectResponse(await input.requireProject(tx, call), services)
    return {
      response: { ...response, replaced: storedValues(before, values) },
      target: projectId,
      detail: change,
      afterCommit: async () => {
        const { store, clock } = services
        if (values.switches?.storeCrops === false) await removeCrops(store, projectId)
        await nearMisses.removeEndedData(store, clock())
      },
    }
  },
})

/** Returns the stored values of the settings that a change contains. */
function storedValues(before: ProjectSummary, change: SettingsChange): SettingsChange {
  const stored: Readonly<Record<string, unknown>> = { ...before, ...parsedColumns(before) }
  const pick = (values: object, from: Readonly<Record<string, unknown>>) =>
    Object.fromEntries(Object.keys(values).map((name) => [name, from[name]]))
  const { switches } = change
  return {
    ...pick(change, stored),
    ...(switches && { switches: pick(switches, switchesFromColumns(before)) }),
  }
}

/** @throws HttpError 409 when a stored setting differs from the expected one. */
function requireExpected(before: ProjectSummary, expected: SettingsChange = {}): void {
  if (isDeepStrictEqual(storedValues(before, expected), expected)) return
  throw new HttpError(
    409,
    `Nothing was changed: another change of ${Object.keys(expected).join(', ')} is stored since then, and it is kept. Check the present settings.`,
  )
}

/** @throws ValidationError when the gallery mode changes and the statement is missing or wrong. */
function requireStatement(
  before: ProjectSummary,
  change: Pick<z.output<typeof editProject.body>, 'galleryMode' | 'statement'>,
): void {
  const { galleryMode, statement } = change
  if (
    galleryMode === undefined ||
    galleryMode === before.galleryMode ||
    statement === effects.galleryModeStatement(before, galleryMode)
  )
    return
  const message = 'must repeat the statement of gallery-mode-preview word for word'
  throw input.invalidField('body.statement', message)
}

/** @throws ValidationError 409 when another project has the name. */
async function requireFreeName(
  db: Parameters<typeof findProject>[0],
  before: ProjectSummary,
  name: string | undefined,
): Promise<void> {
  if (name === undefined) return
  const sameName = await findProject(db, name, before.accountId)
  if (sameName && sameName.projectId !== before.projectId) throw nameConflict()
}

function nameConflict(): input.ValidationError {
  const message = 'must be another name: a project with this name already exists'
  return input.invalidField('body.name', message, 409)
}

function toProjectResponse(summary: ProjectSummary, { defaults }: ConsoleContext['services']) {
  const { sustainedPerS, burst, retentionDays, balanceMicros, reservedMicros } = summary
  return {
    ...summary,
    sustainedPerS: sustainedPerS ?? defaults.sustainedPerS,
    burst: burst ?? defaults.burst,
    isSustainedDefault: sustainedPerS === null,
    isBurstDefault: burst === null,
    retentionDays: retentionDays ?? defaults.retentionDays,
    isRetentionDefault: retentionDays === null,
    ...parsedColumns(summary),
    budgetMicros: String(balanceMicros),
    reservedMicros: String(reservedMicros),
    automaticThreshold: defaults.identifyThresholdOf(summary.subjectCount),
    subjects: summary.subjectCount,
    templates: summary.templateCount,
  }
}

/** Returns the settings whose columns have another format. */
function parsedColumns(summary: ProjectSummary) {
  return {
    livenessOrigins: summary.livenessOrigins.split(' ').filter(Boolean),
    switches: switchesFromColumns(summary),
  }
}

const periodDays = 30

/**
 * Outside these thresholds most people are matched wrongly or missed, so that a change is confirmed:
 * at 0.70 one of 1,000 pairs of different people matches (docs/recognition/calibration.md).
 */
const usualThresholds = { min: 0.7, below: 0.97 }

/** Counts the decisions of the last 30 days that another threshold would change. */
export const previewThreshold = defineRead('/projects/:projectId/threshold-decisions', {
  isLong: true,
  query: z.strictObject({
    threshold: z
      .string()
      .regex(/^(?:0(?:\.\d{1,4})?|1(?:\.0{1,4})?)$/u, 'must be a number from 0 to 1')
      .transform(Number),
  }),
  response: z.object({
    days: z.int(),
    calls: input.count.describe(texts.projects.calls),
    isCapped: z.boolean(),
    matches: input.count.describe(texts.projects.matches),
    newMatches: input.count.describe(texts.projects.newMatches),
    lostMatches: input.count.describe(texts.projects.lostMatches),
  }),
  handle: async (call) => {
    const { store, clock } = call.services
    const { projectId } = await store.read((tx) => input.requireProject(tx, call))
    const filter = { projectId, ...call.query, fromMs: clock() - periodDays * dayMs }
    return { days: periodDays, ...(await countChangedDecisions(store, filter)) }
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
  throw input.invalidField('body.confirmedThreshold', message)
}
