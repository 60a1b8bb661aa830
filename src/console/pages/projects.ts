import { z } from 'zod'
import { livenessOriginsMax } from '../../lib/limits/call-limits.ts'
import { isOrigin } from '../../lib/validation/is-origin.ts'
import { removeCrops } from '../../store/gallery/crops.ts'
import { findProjectSummaries, type ProjectSummary } from '../../store/tenancy/project-summaries.ts'
import { createProject, findProject, updateProject } from '../../store/tenancy/projects.ts'
import { switchesFromColumns, type ProjectSwitches } from '../../store/tenancy/switches.ts'
import { type ValidationError, count, invalidField, micros, name } from '../server/input.ts'
import { confirmedLosses, requireConfirmedLosses, retentionDays } from './project-losses.ts'
import { requireConfirmedThreshold } from './project-thresholds.ts'
import { galleryModeStatement } from './gallery/gallery-mode.ts'
import { defineRead, defineWrite, type ConsoleContext } from '../server/console-route.ts'
import { requireProject } from '../server/require-project.ts'

const galleryMode = z.enum(['isolated', 'shared'])
const switchState = z.boolean()
const switches = z.strictObject({
  gender: switchState,
  expression: switchState,
  storeCrops: switchState,
  autoEnroll: switchState,
  billing: switchState,
}) satisfies z.ZodType<ProjectSwitches>

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
  identifyThreshold: z.number().nullable(),
  livenessOrigins: origins,
  switches,
  budgetMicros: micros,
  reservedMicros: micros,
  keyCount: count,
  subjects: count,
  templates: count,
})

export const listProjects = defineRead({
  path: '/projects',
  response: z.object({ items: z.array(project) }),
  handle: async ({ identity, services }) => {
    const projects = await services.store.read((tx) => findProjectSummaries(tx, identity.accountId))
    return { items: projects.map((summary) => toProjectResponse(summary, services)) }
  },
})

export const getProject = defineRead({
  path: '/projects/:projectId',
  response: project,
  handle: async (call) => {
    const { store } = call.services
    return toProjectResponse(await store.read((tx) => requireProject(tx, call)), call.services)
  },
})

export const addProject = defineWrite({
  path: '/projects',
  auditAction: 'project.create',
  body: z.strictObject({ name, galleryMode }),
  response: project,
  handle: async ({ body, identity, services }, { db, tx }) => {
    const { accountId } = identity
    if (await findProject(db, body.name)) throw nameConflict()
    const now = new Date(services.clock())
    const { projectId } = await createProject(db, { ...body, accountId }, now)
    const created = await requireProject(tx, { pathParameters: { projectId }, identity })
    return { response: toProjectResponse(created, services), target: projectId, detail: body }
  },
})

export const editProject = defineWrite({
  method: 'PATCH',
  path: '/projects/:projectId',
  auditAction: 'project.update',
  body: z.strictObject({
    name: name.optional(),
    sustainedPerS: z.int().min(1).max(10_000).nullable().optional(),
    burst: z.int().min(1).max(100_000).nullable().optional(),
    retentionDays: retentionDays.nullable().optional(),
    identifyThreshold: z.number().min(0).max(1).nullable().optional(),
    livenessOrigins: origins.optional().meta({
      description: 'Origins of pages that may send frames of liveness sessions; empty: none.',
    }),
    switches: switches.partial().optional(),
    galleryMode: galleryMode.optional(),
    confirmedLosses: confirmedLosses.optional().meta({
      description: 'Required if the change deletes data: the numbers of `losses`.',
    }),
    confirmedThreshold: z.number().optional().meta({
      description: 'Required for an unusual `identifyThreshold`: the same number.',
    }),
    statement: z.string().optional().meta({
      description:
        'Required to change the gallery mode: the `statement` of gallery-mode-preview, word for word.',
    }),
  }),
  response: project,
  handle: async (call, { db, tx }) => {
    const { body, services } = call
    const before = await requireProject(tx, call)
    const {
      statement,
      confirmedLosses: confirmed,
      confirmedThreshold,
      livenessOrigins,
      ...settings
    } = body
    requireConfirmedThreshold(settings.identifyThreshold, confirmedThreshold)
    requireStatement(before, { galleryMode: settings.galleryMode, statement })
    await requireFreeName(db, before, settings.name)
    await requireConfirmedLosses(tx, { project: before, change: settings, confirmed, services })
    const { projectId } = before
    const columns = { ...settings, livenessOrigins: livenessOrigins?.join(' ') }
    const change = Object.fromEntries(
      Object.entries(columns).filter(([, value]) => value !== undefined),
    )
    await updateProject(db, projectId, change)
    const response = toProjectResponse(await requireProject(tx, call), services)
    const result = { response, target: projectId, detail: change }
    if (settings.switches?.storeCrops !== false) return result
    return {
      ...result,
      afterCommit: async () => void (await removeCrops(services.store, projectId)),
    }
  },
})

/** @throws ValidationError when the gallery mode changes and the statement is missing or wrong. */
function requireStatement(
  before: ProjectSummary,
  change: Pick<z.output<typeof editProject.body>, 'galleryMode' | 'statement'>,
): void {
  const { galleryMode, statement } = change
  if (
    galleryMode === undefined ||
    galleryMode === before.galleryMode ||
    statement === galleryModeStatement(before, galleryMode)
  )
    return
  const message = 'must repeat the statement of gallery-mode-preview word for word'
  throw invalidField('body.statement', message)
}

/** @throws ValidationError 409 when another project has the name. */
async function requireFreeName(
  db: Parameters<typeof findProject>[0],
  before: ProjectSummary,
  name: string | undefined,
): Promise<void> {
  const sameName = name === undefined ? undefined : await findProject(db, name)
  if (sameName && sameName.projectId !== before.projectId) throw nameConflict()
}

function nameConflict(): ValidationError {
  const message = 'must be another name: a project with this name already exists'
  return invalidField('body.name', message, 409)
}

function toProjectResponse(summary: ProjectSummary, { defaults }: ConsoleContext['services']) {
  const { sustainedPerS, burst, retentionDays, balanceMicros, reservedMicros } = summary
  return {
    ...summary,
    sustainedPerS: sustainedPerS ?? defaults.sustainedPerS,
    burst: burst ?? defaults.burst,
    isSustainedDefault: sustainedPerS === null,
    isBurstDefault: burst === null,
    livenessOrigins: summary.livenessOrigins.split(' ').filter(Boolean),
    retentionDays: retentionDays ?? defaults.retentionDays,
    isRetentionDefault: retentionDays === null,
    switches: switchesFromColumns(summary),
    budgetMicros: String(balanceMicros),
    reservedMicros: String(reservedMicros),
    subjects: summary.subjectCount,
    templates: summary.templateCount,
  }
}
