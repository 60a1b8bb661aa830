import { z } from 'zod'
import { HttpError } from '../lib/errors.ts'
import { removeCrops } from '../store/crops.ts'
import { projectFacts, type ProjectFacts } from '../store/project-facts.ts'
import { createProject, findProject, updateProject } from '../store/projects.ts'
import { switchesOf, type Switches } from '../store/switches.ts'
import { count, micros, name } from './fields.ts'
import { statementOf } from './gallery-mode.ts'
import { Invalid } from './invalid.ts'
import { defineRead, defineWrite, noQuery, type ConsoleCall } from './route.ts'
import { theProject } from './the-project.ts'

const galleryMode = z.enum(['isolated', 'shared'])
const isOn = z.boolean()
const switches = z.strictObject({
  gender: isOn,
  expression: isOn,
  storeCrops: isOn,
  adopt: isOn,
}) satisfies z.ZodType<Switches>

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
  who: 'viewer',
  query: noQuery,
  answer: z.object({ items: z.array(project) }),
  handle: async ({ visitor, services }) => {
    const found = await services.store.read((reading) => projectFacts(reading, visitor.accountId))
    return { items: found.map((facts) => shown(facts, services)) }
  },
})

export const getProject = defineRead({
  path: '/projects/:projectId',
  who: 'viewer',
  query: noQuery,
  answer: project,
  handle: async (call) => {
    const { store } = call.services
    return shown(await store.read((reading) => theProject(reading, call)), call.services)
  },
})

export const addProject = defineWrite({
  method: 'POST',
  path: '/projects',
  who: 'admin',
  act: 'project.create',
  query: noQuery,
  body: z.strictObject({ name, galleryMode }),
  answer: project,
  handle: async ({ body, visitor, services }, { db, tx }) => {
    const { accountId } = visitor
    if (await findProject(db, body.name))
      throw new HttpError(409, 'There is a project of this name.')
    const now = new Date(services.clock())
    const { projectId } = await createProject(db, { ...body, accountId }, now)
    const made = await theProject(tx, { parts: { projectId }, visitor })
    return { answer: shown(made, services), target: projectId, detail: body }
  },
})

export const changeProject = defineWrite({
  method: 'PATCH',
  path: '/projects/:projectId',
  who: 'admin',
  act: 'project.change',
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
  answer: project,
  handle: async (call, { db, tx }) => {
    const { body, services } = call
    const before = await theProject(tx, call)
    const { statement, ...given } = body
    refuseUnread(before, { galleryMode: given.galleryMode, statement })
    await refuseTaken(db, before, given.name)
    const { projectId } = before
    const change = Object.fromEntries(
      Object.entries(given).filter(([, value]) => value !== undefined),
    )
    await updateProject(db, projectId, change)
    const answer = shown(await theProject(tx, call), services)
    const written = { answer, target: projectId, detail: change }
    if (given.switches?.storeCrops !== false) return written
    return {
      ...written,
      afterwards: async () => void (await removeCrops(services.store, projectId)),
    }
  },
})

/** @throws Invalid unless whoever switches the gallery has read what it means. */
function refuseUnread(
  before: ProjectFacts,
  wanted: Pick<z.output<typeof changeProject.body>, 'galleryMode' | 'statement'>,
): void {
  const { galleryMode: to, statement } = wanted
  if (to === undefined || to === before.galleryMode || statement === statementOf(before, to)) return
  const message = 'repeat the statement of gallery-mode-preview, word by word'
  throw new Invalid([{ path: 'body.statement', message }])
}

/** @throws HttpError 409 when another project has the name. */
async function refuseTaken(
  db: Parameters<typeof findProject>[0],
  before: ProjectFacts,
  name: string | undefined,
): Promise<void> {
  const holder = name === undefined ? undefined : await findProject(db, name)
  if (holder && holder.projectId !== before.projectId)
    throw new HttpError(409, 'There is a project of this name.')
}

function shown(facts: ProjectFacts, { defaults }: ConsoleCall['services']) {
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
    switches: switchesOf(facts),
    budgetMicros: String(balanceMicros),
    reservedMicros: String(reservedMicros),
    keyCount: facts.keyCount,
    subjects: facts.subjectCount,
    templates: facts.templateCount,
  }
}
