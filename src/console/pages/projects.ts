import { z } from 'zod'
import { HttpError } from '../../lib/errors.ts'
import { removeCrops } from '../../store/gallery/crops.ts'
import { findProjectSummaries, type ProjectSummary } from '../../store/tenancy/project-summaries.ts'
import { createProject, findProject, updateProject } from '../../store/tenancy/projects.ts'
import { switchesFromColumns, type ProjectSwitches } from '../../store/tenancy/switches.ts'
import { count, micros, name } from '../server/schemas.ts'
import { galleryModeStatement } from './gallery-mode.ts'
import { ValidationError } from '../server/validation-error.ts'
import { defineRead, defineWrite, noQuery, type ConsoleContext } from '../server/route.ts'
import { requireProject } from '../server/require-project.ts'

const galleryMode = z.enum(['isolated', 'shared'])
const switchState = z.boolean()
const switches = z.strictObject({
  gender: switchState,
  expression: switchState,
  storeCrops: switchState,
  adopt: switchState,
}) satisfies z.ZodType<ProjectSwitches>

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
  switches,
  budgetMicros: micros,
  reservedMicros: micros,
  keyCount: count,
  subjects: count,
  templates: count,
})

export const listProjects = defineRead({
  path: '/projects',
  minimumRole: 'viewer',
  query: noQuery,
  response: z.object({ items: z.array(project) }),
  handle: async ({ identity: visitor, services }) => {
    const found = await services.store.read((reading) =>
      findProjectSummaries(reading, visitor.accountId),
    )
    return { items: found.map((facts) => toProjectResponse(facts, services)) }
  },
})

export const getProject = defineRead({
  path: '/projects/:projectId',
  minimumRole: 'viewer',
  query: noQuery,
  response: project,
  handle: async (call) => {
    const { store } = call.services
    return toProjectResponse(
      await store.read((reading) => requireProject(reading, call)),
      call.services,
    )
  },
})

export const addProject = defineWrite({
  method: 'POST',
  path: '/projects',
  minimumRole: 'admin',
  auditAction: 'project.create',
  query: noQuery,
  body: z.strictObject({ name, galleryMode }),
  response: project,
  handle: async ({ body, identity: visitor, services }, { db, tx }) => {
    const { accountId } = visitor
    if (await findProject(db, body.name))
      throw new HttpError(409, 'There is a project of this name.')
    const now = new Date(services.clock())
    const { projectId } = await createProject(db, { ...body, accountId }, now)
    const made = await requireProject(tx, { pathParameters: { projectId }, identity: visitor })
    return { response: toProjectResponse(made, services), target: projectId, detail: body }
  },
})

export const editProject = defineWrite({
  method: 'PATCH',
  path: '/projects/:projectId',
  minimumRole: 'admin',
  auditAction: 'project.change',
  query: noQuery,
  body: z.strictObject({
    name: name.optional(),
    sustainedPerS: z.int().min(1).max(10_000).nullable().optional(),
    burst: z.int().min(1).max(100_000).nullable().optional(),
    retentionDays: z.int().min(1).max(36_500).nullable().optional(),
    identifyThreshold: z.number().min(0).max(1).nullable().optional(),
    switches: switches.partial().optional(),
    galleryMode: galleryMode.optional(),
    statement: z.string().optional().meta({
      description: 'What the preview said of the new gallery mode, word by word.',
    }),
  }),
  response: project,
  handle: async (call, { db, tx }) => {
    const { body, services } = call
    const before = await requireProject(tx, call)
    const { statement, ...given } = body
    requireStatement(before, { galleryMode: given.galleryMode, statement })
    await requireFreeName(db, before, given.name)
    const { projectId } = before
    const change = Object.fromEntries(
      Object.entries(given).filter(([, value]) => value !== undefined),
    )
    await updateProject(db, projectId, change)
    const response = toProjectResponse(await requireProject(tx, call), services)
    const written = { response, target: projectId, detail: change }
    if (given.switches?.storeCrops !== false) return written
    return {
      ...written,
      afterCommit: async () => void (await removeCrops(services.store, projectId)),
    }
  },
})

/** @throws Invalid unless whoever switches the gallery has read what it means. */
function requireStatement(
  before: ProjectSummary,
  wanted: Pick<z.output<typeof editProject.body>, 'galleryMode' | 'statement'>,
): void {
  const { galleryMode: to, statement } = wanted
  if (
    to === undefined ||
    to === before.galleryMode ||
    statement === galleryModeStatement(before, to)
  )
    return
  const message = 'repeat the statement of gallery-mode-preview, word by word'
  throw new ValidationError([{ path: 'body.statement', message }])
}

/** @throws HttpError 409 when another project has the name. */
async function requireFreeName(
  db: Parameters<typeof findProject>[0],
  before: ProjectSummary,
  name: string | undefined,
): Promise<void> {
  const holder = name === undefined ? undefined : await findProject(db, name)
  if (holder && holder.projectId !== before.projectId)
    throw new HttpError(409, 'There is a project of this name.')
}

function toProjectResponse(facts: ProjectSummary, { defaults }: ConsoleContext['services']) {
  const { sustainedPerS, burst, retentionDays, balanceMicros, reservedMicros } = facts
  return {
    projectId: facts.projectId,
    name: facts.name,
    galleryMode: facts.galleryMode,
    createdAtUtc: facts.createdAtUtc,
    sustainedPerS: sustainedPerS ?? defaults.sustainedPerS,
    burst: burst ?? defaults.burst,
    isSustainedDefault: sustainedPerS === null,
    isBurstDefault: burst === null,
    retentionDays: retentionDays ?? defaults.retentionDays,
    isRetentionDefault: retentionDays === null,
    identifyThreshold: facts.identifyThreshold,
    switches: switchesFromColumns(facts),
    budgetMicros: String(balanceMicros),
    reservedMicros: String(reservedMicros),
    keyCount: facts.keyCount,
    subjects: facts.subjectCount,
    templates: facts.templateCount,
  }
}
