import { parseArgs } from 'node:util'
import { removeCrops } from '../../store/gallery/crops.ts'
import {
  createProject,
  findProject,
  listProjects,
  updateProject,
} from '../../store/tenancy/projects.ts'
import type { Project } from '../../store/tenancy/projects.ts'
import type { ProjectSwitches } from '../../store/tenancy/switches.ts'
import {
  formatTable,
  print,
  requireAccountId,
  requireProject,
  subcommands,
  withStore,
} from '../with-store.ts'
import { UsageError, type CliCommand } from '../command.ts'

const json = { type: 'boolean', default: false } as const
const text = { type: 'string' } as const

export const project: CliCommand = {
  name: 'project',
  summary: 'create, list and set up projects',
  usage: `facegate project create <name> [--gallery isolated|shared] [--json]
facegate project list [--json]
facegate project set <project> [--sustained n] [--burst n] [--gallery isolated|shared]
                     [--retention-days n] [--threshold 0..1]
                     [--gender on|off] [--expression on|off]
                     [--store-crops on|off] [--adopt on|off] [--json]

  A project has its own budget, rate limit, keys and, unless its gallery is shared
  with the account's other shared projects, its own gallery. --sustained is calls
  per second in the long run, --burst calls at once; "default" takes the server's.
  --threshold is the similarity from which svc.identify names people; by default it
  grows with the gallery. --gender and --expression say whether svc.attributes and
  svc.analyze tell them (default: on; docs/privacy.md says when not to). --store-crops
  keeps a crop of each face that is enrolled from now on, encrypted, so that a later
  model can describe it; off deletes those that the project had stored. --adopt lets
  svc.verify add a face to a subject that only a former model knows.`,
  run: subcommands({ create, list, set }),
}

async function create(args: readonly string[]): Promise<void> {
  const { values, positionals } = parseArgs({
    args: [...args],
    allowPositionals: true,
    options: { gallery: text, json },
  })
  const name = parseProjectName(positionals)
  const galleryMode = parseGalleryMode(values.gallery) ?? 'isolated'
  const made = await withStore(async (store) => {
    const accountId = await requireAccountId(store)
    if (await findProject(store.db, name)) throw new Error(`there is a project ${name} already`)
    return store.db
      .transaction()
      .execute((db) => createProject(db, { accountId, name, galleryMode }, new Date()))
  })
  print(made, values.json, () => table([made]))
}

async function list(args: readonly string[]): Promise<void> {
  const { values } = parseArgs({ args: [...args], options: { json } })
  const projects = await withStore(({ db }) => listProjects(db))
  print(projects, values.json, () => table(projects))
}

async function set(args: readonly string[]): Promise<void> {
  const { values, positionals } = parseArgs({
    args: [...args],
    allowPositionals: true,
    options: {
      gallery: text,
      sustained: text,
      burst: text,
      'retention-days': text,
      threshold: text,
      gender: text,
      expression: text,
      'store-crops': text,
      adopt: text,
      json,
    },
  })
  const wanted = parseProjectName(positionals)
  const sustainedPerS = parseLimit('--sustained', values.sustained, 10_000)
  const burst = parseLimit('--burst', values.burst, 100_000)
  const galleryMode = parseGalleryMode(values.gallery)
  const retentionDays = parseLimit('--retention-days', values['retention-days'], 36_500)
  const identifyThreshold = parseShare('--threshold', values.threshold)
  const switches = parseSwitches(values)
  const change = {
    ...(Object.keys(switches).length > 0 && { switches }),
    ...(identifyThreshold !== undefined && { identifyThreshold }),
    ...(retentionDays !== undefined && { retentionDays }),
    ...(sustainedPerS !== undefined && { sustainedPerS }),
    ...(burst !== undefined && { burst }),
    ...(galleryMode !== undefined && { galleryMode }),
  }
  if (Object.keys(change).length === 0) throw new UsageError('say what to set')
  const changed = await withStore(async (store) => {
    const { projectId } = await requireProject(store, wanted)
    await updateProject(store.db, projectId, change)
    // First the switch: no call that ends later stores another one.
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

function parseProjectName(positionals: readonly string[]): string {
  const [name = '', ...rest] = positionals
  if (!/^\S(?:.{0,126}\S)?$/u.test(name) || rest.length > 0)
    throw new UsageError('name one project, at most 128 characters')
  return name
}

function parseGalleryMode(value: string | undefined): Project['galleryMode'] | undefined {
  if (value === undefined || value === 'isolated' || value === 'shared') return value
  throw new UsageError(`--gallery is isolated or shared, not ${value}`)
}

/** The options of switches, as `parseArgs` gives them, and what they switch. */
const switchOptions = {
  gender: 'gender',
  expression: 'expression',
  storeCrops: 'store-crops',
  adopt: 'adopt',
} as const

function parseSwitches(values: Readonly<Record<string, unknown>>): Partial<ProjectSwitches> {
  return Object.fromEntries(
    Object.entries(switchOptions).flatMap(([name, option]) => {
      const value = values[option]
      if (value === undefined) return []
      if (value !== 'on' && value !== 'off') throw new UsageError(`--${option} is on or off`)
      return [[name, value === 'on']]
    }),
  )
}

/** null goes back to the server's default. */
function parseLimit(
  name: string,
  value: string | undefined,
  max: number,
): number | null | undefined {
  if (value === undefined) return undefined
  if (value === 'default') return null
  const limit = /^\d{1,9}$/u.test(value) ? Number(value) : 0
  if (limit < 1 || limit > max) throw new UsageError(`${name} is a whole number from 1 to ${max}`)
  return limit
}

/** null goes back to the server's rule. */
function parseShare(name: string, value: string | undefined): number | null | undefined {
  if (value === undefined) return undefined
  if (value === 'default') return null
  const share = /^[01](?:\.\d{1,6})?$/u.test(value) ? Number(value) : Number.NaN
  if (!(share <= 1)) throw new UsageError(`${name} is a number from 0 to 1`)
  return share
}

function table(projects: readonly Project[]): string {
  const limit = (value: number | null): string => (value === null ? 'default' : String(value))
  return formatTable(
    ['project', 'name', 'gallery', 'sustained/s', 'burst', 'created'],
    projects.map((row) => [
      row.projectId,
      row.name,
      row.galleryMode,
      limit(row.sustainedPerS),
      limit(row.burst),
      row.createdAtUtc,
    ]),
  )
}
