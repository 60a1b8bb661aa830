import type { Selectable, Updateable } from 'kysely'
import { newId } from '../../lib/ids.ts'
import type { Database } from '../database.ts'
import type { ProjectRow } from '../schema.ts'
import {
  defaultSwitches,
  columnsFromSwitches,
  switchesFromColumns,
  type ProjectSwitches,
} from './switches.ts'
import type { ReadTx } from '../tx.ts'

export type Project = Omit<Selectable<ProjectRow>, keyof ProjectSwitches> & {
  readonly switches: ProjectSwitches
}

/** The oldest account, if the first start has happened. */
export async function findFirstAccountId(db: Database): Promise<string | undefined> {
  const row = await db
    .selectFrom('accounts')
    .select('accountId')
    .orderBy('createdAtUtc')
    .limit(1)
    .executeTakeFirst()
  return row?.accountId
}

/** Makes an account and its empty wallet. */
export async function createAccount(db: Database, name: string, now: Date): Promise<string> {
  const accountId = newId()
  const createdAtUtc = now.toISOString()
  await db.insertInto('accounts').values({ accountId, name, createdAtUtc }).execute()
  await db
    .insertInto('ledgers')
    .values({ ledger: walletLedger(accountId), accountId })
    .execute()
  return accountId
}

/** Makes a project and its empty budget. @throws Error if the account has one of that name. */
export async function createProject(
  db: Database,
  project: Pick<Project, 'accountId' | 'name' | 'galleryMode'>,
  now: Date,
): Promise<Project> {
  const made = { ...project, projectId: newId(), createdAtUtc: now.toISOString() }
  const { accountId, projectId } = made
  await db.insertInto('projects').values(made).execute()
  await db
    .insertInto('ledgers')
    .values({ ledger: budgetLedger(projectId), accountId })
    .execute()
  return { ...made, ...projectDefaults, switches: defaultSwitches }
}

export async function listProjects(db: Database): Promise<Project[]> {
  const rows = db.selectFrom('projects').selectAll().orderBy('createdAtUtc').orderBy('name')
  return (await rows.execute()).map(projectFromRow)
}

function projectFromRow({ gender, expression, storeCrops, adopt, ...row }: Selectable<ProjectRow>) {
  return { ...row, switches: switchesFromColumns({ gender, expression, storeCrops, adopt }) }
}

/** null takes what the server is configured to. */
const projectDefaults = {
  sustainedPerS: null,
  burst: null,
  retentionDays: null,
  identifyThreshold: null,
}

/** The similarity from which svc.identify names people for this project; null: the server's rule. */
export async function findIdentifyThreshold(
  reading: ReadTx,
  projectId: string,
): Promise<number | null> {
  const query = reading.build.selectFrom('projects').select('identifyThreshold')
  const [row] = await reading.run(query.where('projectId', '=', projectId))
  return row?.identifyThreshold ?? null
}

/** For how long each project keeps subjects that nobody meets; null: as configured for all. */
export function listProjectRetentions(reading: ReadTx) {
  return reading.run(reading.build.selectFrom('projects').select(['projectId', 'retentionDays']))
}

/** A project by its id or, where that finds none, by its name. */
export async function findProject(db: Database, idOrName: string): Promise<Project | undefined> {
  const rows = await db
    .selectFrom('projects')
    .selectAll()
    .where((row) => row.or([row('projectId', '=', idOrName), row('name', '=', idOrName)]))
    .execute()
  const row = rows.find(({ projectId }) => projectId === idOrName) ?? rows[0]
  return row && projectFromRow(row)
}

export type ProjectChange = Partial<
  Pick<Project, 'name' | 'galleryMode' | keyof typeof projectDefaults> & {
    readonly switches: Partial<ProjectSwitches>
  }
>

export async function updateProject(
  db: Database,
  projectId: string,
  { switches = {}, ...change }: ProjectChange,
): Promise<void> {
  const columns: Updateable<ProjectRow> = { ...change, ...columnsFromSwitches(switches) }
  if (Object.keys(columns).length === 0) return
  await db.updateTable('projects').set(columns).where('projectId', '=', projectId).execute()
}

/** The ledger of an account's money that no project has been given yet. */
export function walletLedger(accountId: string): string {
  return `wallet:${accountId}`
}

/** The ledger that the calls of a project are paid from. */
export function budgetLedger(projectId: string): string {
  return `budget:${projectId}`
}
