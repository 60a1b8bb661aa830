import { allocate } from '../../billing/ledger.ts'
import {
  clearGallery,
  clearVisitors,
  deletionOfCommand,
} from '../../gallery/deletion/subject-deletion.ts'
import { type ProjectContents, beginDeletion, deleteProject } from '../../gate/delete-project.ts'
import { dayMs, formatUtc } from '../../lib/clock.ts'
import { type Micros, formatAmount } from '../../lib/money.ts'
import type { Store } from '../../store/database.ts'
import { countProjectVisitors } from '../../store/gallery/visitors.ts'
import { removeCrops } from '../../store/gallery/crops.ts'
import * as nearMisses from '../../store/gallery/feedback/near-miss-crops.ts'
import {
  createProject,
  findProject,
  listProjects,
  updateProject,
  type Project,
} from '../../store/tenancy/projects.ts'
import {
  type CommandValues,
  UsageError,
  formatTable,
  print,
  printRows,
  showProgress,
} from '../command.ts'
import * as audit from '../audit/audited-change.ts'
import { requireAccountId, requireProject, withStore } from '../with-store.ts'
import { quantity } from '../quantity.ts'

export async function create({
  name,
  gallery: galleryMode,
  budget,
  billing,
  account,
  json,
}: CommandValues<'name', 'account'> & {
  readonly gallery: Project['galleryMode']
  readonly budget: Micros | undefined
  readonly billing: boolean | undefined
}): Promise<void> {
  const switches = billing === undefined ? {} : { billing }
  const created = await audit.changeDatabase('project.create', async ({ db, tx, nowMs }) => {
    const accountId = await requireAccountId({ db }, account)
    if (await findProject(db, name, accountId))
      throw new Error(`the project ${name} exists already`)
    const project = await createProject(db, { accountId, name, galleryMode }, new Date(nowMs))
    const { projectId } = project
    await updateProject(db, projectId, { switches })
    if (budget !== undefined) await allocate(tx, { accountId, projectId }, budget, nowMs)
    const result = { ...project, switches: { ...project.switches, ...switches } }
    const allocated = budget !== undefined && { budgetMicros: String(budget) }
    const detail = { name, galleryMode, ...switches, ...allocated }
    return { result, accountId, target: projectId, detail }
  })
  print(created, json, () => describeProject(created))
}

export async function show({ project, json }: CommandValues<'project'>): Promise<void> {
  const shown = await withStore((store) => requireProject(store, project))
  print(shown, json, () => describeProject(shown))
}

export async function list({ json }: { readonly json: boolean }): Promise<void> {
  const projects = await withStore(({ db }) => listProjects(db))
  printRows(projects, json, {
    id: 'projectId',
    name: 'name',
    gallery: 'galleryMode',
    'sustained/s': ({ sustainedPerS }) => limit(sustainedPerS),
    burst: ({ burst }) => limit(burst),
    billing: ({ switches }) => (switches.billing ? 'on' : 'off'),
    created: 'createdAtUtc',
  })
}

/** The values of `facegate project set`; undefined: unchanged, null: the default of the server. */
type ProjectSettings = CommandValues<'project'> &
  Readonly<Record<NumberOption, number | null | undefined>> &
  Readonly<Record<SwitchOption, boolean | undefined>> & {
    readonly gallery: Project['galleryMode'] | undefined
    readonly 'liveness-origins': readonly string[] | undefined
  }

type NumberOption = 'sustained' | 'burst' | 'threshold' | PeriodOption

type PeriodOption = 'retention-days' | 'unknown-people' | 'near-miss-crops'

type SwitchOption = 'gender' | 'expression' | 'auto-enroll' | 'billing' | DataOption

type DataOption = 'store-crops' | 'feedback' | 'match-days'

export async function set(values: ProjectSettings): Promise<void> {
  const visitorDays = values['unknown-people']
  const nearMissHours = values['near-miss-crops']
  const switches = givenOptions({
    gender: values.gender,
    expression: values.expression,
    storeCrops: values['store-crops'],
    autoEnroll: values['auto-enroll'],
    feedback: values.feedback,
    unknownPeople: visitorDays === undefined ? undefined : visitorDays !== null,
    nearMissCrops: nearMissHours === undefined ? undefined : nearMissHours !== null,
    matchDays: values['match-days'],
    billing: values.billing,
  })
  const change = givenOptions({
    switches: Object.keys(switches).length > 0 ? switches : undefined,
    identifyThreshold: values.threshold,
    retentionDays: values['retention-days'],
    visitorRetentionDays: visitorDays ?? undefined,
    nearMissHours: nearMissHours ?? undefined,
    sustainedPerS: values.sustained,
    burst: values.burst,
    galleryMode: values.gallery,
    livenessOrigins: values['liveness-origins']?.join(' '),
  })
  if (Object.keys(change).length === 0)
    throw new UsageError('there is nothing to set; pass at least one option')
  const changed = await withStore(async (store) => {
    const { projectId, accountId, name } = await requireProject(store, values.project)
    await audit.auditedChange(store, 'project.update', async ({ db, tx }) => {
      await updateProject(db, projectId, change)
      await nearMisses.limitNearMisses(tx, projectId, change)
      return { result: undefined, accountId, target: projectId, detail: { ...change, name } }
    })
    await nearMisses.removeEndedData(store, audit.commandClock(store)())
    // The switch is changed first: a call that ends later stores no further crop.
    const cropsDeleted = switches.storeCrops === false && {
      cropsDeleted: await removeCrops(store, projectId),
    }
    const visitors =
      visitorDays === undefined ? {} : await countVisitors(store, projectId, visitorDays)
    return { ...(await requireProject(store, projectId)), ...cropsDeleted, ...visitors }
  })
  print(changed, values.json, () => [describeProject(changed), ...lossesOf(changed)].join('\n'))
}

type Losses = {
  readonly cropsDeleted?: number
  readonly visitorsOverdue?: number
  readonly visitorsStored?: number
}

/** States what a change of the settings deletes. */
function lossesOf(changed: Project & Losses): readonly string[] {
  const { cropsDeleted, visitorsOverdue, visitorsStored, visitorRetentionDays: days } = changed
  const lost = [
    cropsDeleted !== undefined && `deleted: ${quantity(cropsDeleted, 'stored crop')}`,
    visitorsOverdue &&
      `deleted within a minute: ${quantity(visitorsOverdue, 'visitor')} without a picture for ${quantity(days, 'day')}`,
    visitorsStored &&
      `stored until ${quantity(days, 'day')} after the last picture: ${quantity(visitorsStored, 'visitor')}; facegate visitor delete --all deletes all of them`,
  ]
  return lost.filter((text) => typeof text === 'string')
}

/** Counts the visitors that a retention deletes, or those that stay when no more are stored. */
async function countVisitors(store: Store, projectId: string, days: number | null) {
  const beforeUtc =
    days === null ? undefined : formatUtc(audit.commandClock(store)() - days * dayMs)
  const filter = { projectId, ...(beforeUtc && { beforeUtc }) }
  const { total } = await store.read((reading) => countProjectVisitors(reading, filter))
  return days === null ? { visitorsStored: total } : { visitorsOverdue: total }
}

type GivenOptions<Options> = {
  readonly [Name in keyof Options]?: Exclude<Options[Name], undefined>
}

/** Returns the options that are given. */
function givenOptions<Options extends object>(options: Options): GivenOptions<Options> {
  const defined = Object.entries(options).filter(([, value]) => value !== undefined)
  return Object.fromEntries(defined) as GivenOptions<Options>
}

export async function remove(values: CommandValues<'project'> & { readonly yes: boolean }) {
  const deleted = await withStore(async (store) => {
    const project = await requireProject(store, values.project)
    const { accountId, projectId: target, name } = project
    const contents = await audit.auditedChange(store, 'project.delete', async (change) => {
      const result = await beginDeletion(change, project, change.nowMs)
      if (!values.yes) throw unconfirmed(project, result)
      return { result, accountId, target, detail: { name, ...result } }
    })
    const returnedMicros = await eraseProject(store, project, contents.subjects)
    return { projectId: target, name, ...contents, returnedMicros }
  })
  const { name, projectId, returnedMicros } = deleted
  const returned = `${formatAmount(returnedMicros)} returned to the wallet`
  print(deleted, values.json, () => `deleted the project ${name} (${projectId}); ${returned}`)
}

/** States what the command deletes with --yes. */
function unconfirmed({ name, projectId }: Project, contents: ProjectContents): UsageError {
  const { subjects, visitors, crops, keys, webhooks } = contents
  return new UsageError(
    `nothing was deleted; with --yes, the command permanently deletes ${name} (${projectId}) with ${quantity(subjects, 'subject')}, ${quantity(visitors, 'visitor')}, ${quantity(crops, 'stored crop')}, ${quantity(keys, 'valid key')} and ${quantity(webhooks, 'webhook')}, and returns its budget to the wallet`,
  )
}

function eraseProject(store: Store, project: Project, subjects: number): Promise<bigint> {
  const { accountId } = project
  const clock = audit.commandClock(store)
  return showProgress('subjects', (onProgress) => {
    let deleted = 0
    const deletion = deletionOfCommand(store, clock)
    const removal: typeof deletion = {
      ...deletion,
      remove: (tx, subject) => {
        onProgress(++deleted, Math.max(deleted, subjects))
        return deletion.remove(tx, subject)
      },
    }
    return deleteProject({
      store,
      project,
      clock,
      clear: (galleryId) => clearGallery(removal, galleryId),
      clearVisitors: (projectId) => clearVisitors(removal, projectId),
      addEntry: (tx, entry) => audit.addCommandLineEntry(tx, { ...entry, accountId }, clock()),
    })
  })
}

/** Returns all settings of a project with the names of the options of `project set`. */
function describeProject(project: Project): string {
  const { switches, ...row } = project
  const onOff = (isOn: boolean): string => (isOn ? 'on' : 'off')
  return formatTable(
    ['setting', 'value'],
    Object.entries({
      id: row.projectId,
      name: row.name,
      account: row.accountId,
      created: row.createdAtUtc,
      gallery: row.galleryMode,
      sustained: limit(row.sustainedPerS),
      burst: limit(row.burst),
      'retention-days': limit(row.retentionDays),
      threshold: limit(row.identifyThreshold),
      'liveness-origins': row.livenessOrigins || 'none',
      gender: onOff(switches.gender),
      expression: onOff(switches.expression),
      'store-crops': onOff(switches.storeCrops),
      'auto-enroll': onOff(switches.autoEnroll),
      feedback: onOff(switches.feedback),
      'unknown-people': switches.unknownPeople ? String(row.visitorRetentionDays) : 'off',
      'near-miss-crops': switches.nearMissCrops ? String(row.nearMissHours) : 'off',
      'match-days': onOff(switches.matchDays),
      billing: onOff(switches.billing),
    }),
  )
}

/** A setting; null: that of the server applies. */
function limit(value: number | null): string {
  return value === null ? 'default' : String(value)
}
