import { removeCrops } from '../../store/gallery/crops.ts'
import {
  createProject,
  findProject,
  listProjects,
  updateProject,
} from '../../store/tenancy/projects.ts'
import type { Project } from '../../store/tenancy/projects.ts'
import type { ProjectSwitches } from '../../store/tenancy/switches.ts'
import { UsageError, type CommandValues } from '../command.ts'
import { auditedChange } from '../audit/audited-change.ts'
import { formatTable, print } from '../output.ts'
import { requireAccountId, requireProject, withStore } from '../with-store.ts'

export async function create({
  name,
  gallery: galleryMode,
  billing,
  account,
  json,
}: {
  readonly name: string
  readonly account: string | undefined
  readonly gallery: Project['galleryMode']
  readonly billing: boolean | undefined
  readonly json: boolean
}): Promise<void> {
  const switches = billing === undefined ? {} : { billing }
  const created = await withStore(async (store) => {
    const accountId = await requireAccountId(store, account)
    if (await findProject(store.db, name)) throw new Error(`the project ${name} exists already`)
    return auditedChange(store, 'project.create', async ({ db, nowMs }) => {
      const project = await createProject(db, { accountId, name, galleryMode }, new Date(nowMs))
      await updateProject(db, project.projectId, { switches })
      const result = { ...project, switches: { ...project.switches, ...switches } }
      const detail = { name, galleryMode, ...switches }
      return { result, accountId, target: project.projectId, detail }
    })
  })
  print(created, json, () => table([created]))
}

export async function list({ json }: { readonly json: boolean }): Promise<void> {
  const projects = await withStore(({ db }) => listProjects(db))
  print(projects, json, () => table(projects))
}

/** The values of `facegate project set`; undefined: unchanged, null: the default of the server. */
type ProjectSettings = CommandValues<'project'> & {
  readonly sustained: number | null | undefined
  readonly burst: number | null | undefined
  readonly gallery: Project['galleryMode'] | undefined
  readonly 'retention-days': number | null | undefined
  readonly threshold: number | null | undefined
  readonly gender: boolean | undefined
  readonly expression: boolean | undefined
  readonly 'store-crops': boolean | undefined
  readonly 'auto-enroll': boolean | undefined
  readonly billing: boolean | undefined
}

export async function set(values: ProjectSettings): Promise<void> {
  const {
    sustained: sustainedPerS,
    burst,
    gallery: galleryMode,
    'retention-days': retentionDays,
    threshold: identifyThreshold,
  } = values
  const switches = switchesOf(values)
  const change = {
    ...(Object.keys(switches).length > 0 && { switches }),
    ...(identifyThreshold !== undefined && { identifyThreshold }),
    ...(retentionDays !== undefined && { retentionDays }),
    ...(sustainedPerS !== undefined && { sustainedPerS }),
    ...(burst !== undefined && { burst }),
    ...(galleryMode !== undefined && { galleryMode }),
  }
  if (Object.keys(change).length === 0)
    throw new UsageError('there is nothing to set; pass at least one option')
  const changed = await withStore(async (store) => {
    const { projectId, accountId, name } = await requireProject(store, values.project)
    await auditedChange(store, 'project.update', async ({ db }) => {
      await updateProject(db, projectId, change)
      return { result: undefined, accountId, target: projectId, detail: { ...change, name } }
    })
    // The switch is changed first: a call that ends later stores no further crop.
    const cropsDeleted = switches.storeCrops === false && {
      cropsDeleted: await removeCrops(store, projectId),
    }
    return { ...(await requireProject(store, projectId)), ...cropsDeleted }
  })
  const { cropsDeleted } = changed
  print(changed, values.json, () =>
    cropsDeleted === undefined
      ? table([changed])
      : `${table([changed])}\n${cropsDeleted} stored crops were deleted`,
  )
}

function switchesOf(values: ProjectSettings): Partial<ProjectSwitches> {
  const { gender, expression, billing } = values
  return Object.fromEntries(
    Object.entries({
      gender,
      expression,
      storeCrops: values['store-crops'],
      autoEnroll: values['auto-enroll'],
      billing,
    }).filter(([, value]) => value !== undefined),
  )
}

function table(projects: readonly Project[]): string {
  const limit = (value: number | null): string => (value === null ? 'default' : String(value))
  return formatTable(
    ['id', 'name', 'gallery', 'sustained/s', 'burst', 'billing', 'created'],
    projects.map((row) => [
      row.projectId,
      row.name,
      row.galleryMode,
      limit(row.sustainedPerS),
      limit(row.burst),
      row.switches.billing ? 'on' : 'off',
      row.createdAtUtc,
    ]),
  )
}
