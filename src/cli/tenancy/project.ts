import { removeCrops } from '../../store/gallery/crops.ts'
import {
  createProject,
  findProject,
  listProjects,
  updateProject,
} from '../../store/tenancy/projects.ts'
import type { Project } from '../../store/tenancy/projects.ts'
import type { ProjectSwitches } from '../../store/tenancy/switches.ts'
import { subcommands, UsageError, type CliCommand } from '../command.ts'
import { parseArguments, parseOptions, requireArgument, text } from '../options.ts'
import { formatTable, print } from '../output.ts'
import { requireAccountId, requireProject, withStore } from '../with-store.ts'

export const project: CliCommand = {
  name: 'project',
  summary: 'create, list and configure projects',
  usage: `facegate project create <name> [--gallery isolated|shared] [--billing on|off] [--json]
facegate project list [--json]
facegate project set <project> [--sustained n] [--burst n] [--gallery isolated|shared]
                     [--retention-days n] [--threshold 0..1]
                     [--gender on|off] [--expression on|off]
                     [--store-crops on|off] [--auto-enroll on|off]
                     [--billing on|off] [--json]

  A project has its own budget, rate limit, API keys and gallery. Projects of one
  account with --gallery shared use one common gallery.
  --sustained: average calls per second; --burst: calls allowed in a burst.
  --retention-days: days without a match after which a subject is deleted.
  --threshold: minimum similarity of a match in svc.identify. The default rises with the
    size of the gallery.
  --sustained, --burst, --retention-days and --threshold accept "default".
  --gender, --expression: whether svc.attributes and svc.analyze return them (default:
    on; docs/privacy.md explains when to turn them off).
  --store-crops: store an encrypted crop of each face enrolled from now on, so that a
    later model can create templates from it. off deletes the stored crops.
  --auto-enroll: svc.verify may add a face to a subject that has only templates of a
    former model.
  --billing: off meters calls in the request log, without a charge, and never rejects
    them for the budget (default: on). It applies from the next call.`,
  run: subcommands({ create, list, set }),
}

async function create(args: readonly string[]): Promise<void> {
  const { values, positionals } = parseArguments(args, { gallery: text, billing: text })
  const name = parseProjectName(positionals)
  const galleryMode = parseGalleryMode(values.gallery) ?? 'isolated'
  const switches = parseSwitches(values)
  const created = await withStore(async (store) => {
    const accountId = await requireAccountId(store)
    if (await findProject(store.db, name)) throw new Error(`the project ${name} exists already`)
    return store.db.transaction().execute(async (db) => {
      const project = await createProject(db, { accountId, name, galleryMode }, new Date())
      await updateProject(db, project.projectId, { switches })
      return { ...project, switches: { ...project.switches, ...switches } }
    })
  })
  print(created, values.json, () => table([created]))
}

async function list(args: readonly string[]): Promise<void> {
  const { json } = parseOptions(args, {})
  const projects = await withStore(({ db }) => listProjects(db))
  print(projects, json, () => table(projects))
}

async function set(args: readonly string[]): Promise<void> {
  const { values, positionals } = parseArguments(args, {
    gallery: text,
    sustained: text,
    burst: text,
    'retention-days': text,
    threshold: text,
    gender: text,
    expression: text,
    'store-crops': text,
    'auto-enroll': text,
    billing: text,
  })
  const idOrName = parseProjectName(positionals)
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
  if (Object.keys(change).length === 0)
    throw new UsageError('there is nothing to set; pass at least one option')
  const changed = await withStore(async (store) => {
    const { projectId } = await requireProject(store, idOrName)
    await updateProject(store.db, projectId, change)
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

function parseProjectName(positionals: readonly string[]): string {
  const name = requireArgument(positionals, '<project>')
  if (!/^\S(?:.{0,126}\S)?$/u.test(name))
    throw new UsageError('a project name must have 1 to 128 characters, without spaces at the ends')
  return name
}

function parseGalleryMode(value: string | undefined): Project['galleryMode'] | undefined {
  if (value === undefined || value === 'isolated' || value === 'shared') return value
  throw new UsageError(`--gallery must be isolated or shared, not ${value}`)
}

/** The option of each switch. */
const switchOptions = {
  gender: 'gender',
  expression: 'expression',
  storeCrops: 'store-crops',
  adopt: 'auto-enroll',
  billing: 'billing',
} as const

function parseSwitches(values: Readonly<Record<string, unknown>>): Partial<ProjectSwitches> {
  return Object.fromEntries(
    Object.entries(switchOptions).flatMap(([name, option]) => {
      const value = values[option]
      if (value === undefined) return []
      if (value !== 'on' && value !== 'off') throw new UsageError(`--${option} must be on or off`)
      return [[name, value === 'on']]
    }),
  )
}

/** Returns null for the default of the server. */
function parseLimit(
  name: string,
  value: string | undefined,
  max: number,
): number | null | undefined {
  if (value === undefined) return undefined
  if (value === 'default') return null
  const limit = /^\d{1,9}$/u.test(value) ? Number(value) : 0
  if (limit < 1 || limit > max)
    throw new UsageError(`${name} must be a whole number from 1 to ${max}, or default`)
  return limit
}

/** Returns null for the default of the server. */
function parseShare(name: string, value: string | undefined): number | null | undefined {
  if (value === undefined) return undefined
  if (value === 'default') return null
  const share = /^[01](?:\.\d{1,6})?$/u.test(value) ? Number(value) : Number.NaN
  if (!(share <= 1)) throw new UsageError(`${name} must be a number from 0 to 1, or default`)
  return share
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
