import type { RawBuilder, Selectable, Updateable } from 'kysely'
import { newId } from '../../lib/ids.ts'
import type { AccountRow, Database, ProjectRow, Schema } from '../schema.ts'
import {
  defaultSwitches,
  columnsFromSwitches,
  switchesFromColumns,
  switchNames,
  type ProjectSwitches,
} from './switches.ts'
import { type ReadTx, sql } from '../database.ts'

export type Project = Omit<
  Selectable<ProjectRow>,
  keyof ProjectSwitches | 'matchWebhooks' | 'isFrozen'
> & {
  readonly switches: ProjectSwitches
}

/** Returns the oldest account; undefined before the first start. */
export async function findFirstAccountId(db: Database): Promise<string | undefined> {
  const row = await db
    .selectFrom('accounts')
    .select('accountId')
    .orderBy('createdAtUtc')
    .limit(1)
    .executeTakeFirst()
  return row?.accountId
}

/** Lists all accounts, the oldest first. */
export function listAccounts(db: Database): Promise<readonly AccountRow[]> {
  return db.selectFrom('accounts').selectAll().orderBy('createdAtUtc').execute()
}

/** Lists the ids of the accounts that a move froze. */
export async function listFrozenAccounts(db: Database): Promise<readonly string[]> {
  const frozen = db.selectFrom('projects').select('accountId').distinct().where('isFrozen', '=', 1)
  return (await frozen.execute()).map(({ accountId }) => accountId)
}

/** Creates an account and its empty wallet. */
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

/** Creates a project and its empty budget. @throws Error if the account has one of that name. */
export async function createProject(
  db: Database,
  project: Pick<Project, 'accountId' | 'name' | 'galleryMode'>,
  now: Date,
): Promise<Project> {
  const row = { ...project, projectId: newId(), createdAtUtc: now.toISOString() }
  const { accountId, projectId } = row
  await db.insertInto('projects').values(row).execute()
  await db
    .insertInto('ledgers')
    .values({ ledger: budgetLedger(projectId), accountId })
    .execute()
  return { ...row, ...projectDefaults, switches: defaultSwitches }
}

/** Lists all projects that are not deleted, the oldest first. */
export async function listProjects(db: Database): Promise<Project[]> {
  const rows = db.selectFrom('projects').selectAll().where('deletedAtUtc', 'is', null)
  const ordered = rows.orderBy('createdAtUtc').orderBy('name')
  return (await ordered.execute()).map(projectFromRow)
}

/** Returns the names of all projects by their ids, also of deleted ones. */
export async function projectNames(db: Database): Promise<ReadonlyMap<string, string>> {
  const rows = await db.selectFrom('projects').select(['projectId', 'name']).execute()
  return new Map(rows.map(({ projectId, name }) => [projectId, name]))
}

function projectFromRow(row: Selectable<ProjectRow>): Project {
  const internal = new Set<string>([...switchNames, 'matchWebhooks', 'isFrozen'])
  const settings = Object.entries(row).filter(([name]) => !internal.has(name))
  // The other columns are the fields of a project.
  const project = Object.fromEntries(settings) as Omit<Project, 'switches'>
  return { ...project, switches: switchesFromColumns(row) }
}

/** null: the server's setting applies. No web page may send frames of liveness sessions. */
const projectDefaults = {
  sustainedPerS: null,
  burst: null,
  retentionDays: null,
  visitorRetentionDays: 30,
  nearMissHours: 24,
  identifyThreshold: null,
  livenessOrigins: '',
  deletedAtUtc: null,
}

/** Returns the project's minimum similarity of a match of svc.identify; null: the server's rule. */
export async function findIdentifyThreshold(tx: ReadTx, projectId: string): Promise<number | null> {
  const query = tx.build.selectFrom('projects').select('identifyThreshold')
  const [row] = await tx.run(query.where('projectId', '=', projectId))
  return row?.identifyThreshold ?? null
}

/** Whether a project was deleted. Its row stays, because the ledger and the logs refer to it. */
export async function isDeleted(tx: ReadTx, projectId: string): Promise<boolean> {
  const query = tx.build.selectFrom('projects').select('projectId')
  const deleted = query.where('projectId', '=', projectId).where('deletedAtUtc', 'is not', null)
  return (await tx.run(deleted)).length > 0
}

/** Returns the origins of pages that may send frames of the project's liveness sessions. */
export async function findLivenessOrigins(tx: ReadTx, projectId: string): Promise<string[]> {
  const query = tx.build.selectFrom('projects').select('livenessOrigins')
  const [row] = await tx.run(query.where('projectId', '=', projectId))
  return row?.livenessOrigins.split(' ').filter(Boolean) ?? []
}

/**
 * Lists after how many days without a match each project deletes subjects and visitors; null: the
 * setting. Frozen projects are left out. With an id, it lists only this project.
 */
export function listProjectRetentions(tx: ReadTx, projectId?: string) {
  const columns = ['projectId', 'retentionDays', 'visitorRetentionDays'] as const
  const query = tx.build.selectFrom('projects').select(columns).where('isFrozen', '=', 0)
  return tx.run(projectId === undefined ? query : query.where('projectId', '=', projectId))
}

/** Selects the ids of an account's projects. */
export function accountProjectIds(build: Database, accountId: string | undefined) {
  const projects = build.selectFrom('projects').select('projectId')
  return accountId === undefined ? projects : projects.where('accountId', '=', accountId)
}

/** Selects the projects whose rows may be changed, for housekeeping of all accounts. */
export function unfrozenProjects({ build }: ReadTx) {
  return build.selectFrom('projects').select('projectId').where('isFrozen', '=', 0)
}

/** The condition that the project of a row is not frozen: a batch of rows that stay would end a sweep. */
export function isUnfrozen(table: keyof Schema): RawBuilder<boolean> {
  const projectId = sql.ref(`${table}.projectId`)
  return sql`coalesce((select "isFrozen" from projects p where p."projectId" = ${projectId}), 0) = 0`
}

/** Returns the project's switches, or the defaults if there is no such project. */
export async function findProjectSwitches({ build, run }: ReadTx, projectId: string) {
  const [row] = await run(
    build.selectFrom('projects').select(switchNames).where('projectId', '=', projectId),
  )
  return row ? switchesFromColumns(row) : defaultSwitches
}

/**
 * Finds a project by its id or, if there is none with that id, by its name; also a deleted one.
 *
 * @param accountId only a project of this account; by default of any.
 */
export async function findProject(db: Database, idOrName: string, accountId?: string) {
  const name = idOrName.normalize('NFC')
  const query = db
    .selectFrom('projects')
    .selectAll()
    .where((row) => row.or([row('projectId', '=', idOrName), row('name', '=', name)]))
  const ofAccount = accountId === undefined ? query : query.where('accountId', '=', accountId)
  const rows = await ofAccount.execute()
  const row = rows.find(({ projectId }) => projectId === idOrName) ?? rows[0]
  return row && projectFromRow(row)
}

export type ProjectChange = Partial<
  Pick<Project, 'name' | 'galleryMode' | Exclude<keyof typeof projectDefaults, 'deletedAtUtc'>> & {
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

/** The id of a project's gallery: of the project, or the shared one of its account. */
export function galleryIdOf({
  galleryMode,
  accountId,
  projectId,
}: Pick<Project, 'galleryMode' | 'accountId' | 'projectId'>): string {
  return galleryMode === 'shared' ? accountId : projectId
}

/** The ledger of an account's money that is not allocated to a project. */
export function walletLedger(accountId: string): string {
  return `wallet:${accountId}`
}

/** The ledger that pays for a project's calls. */
export function budgetLedger(projectId: string): string {
  return `budget:${projectId}`
}

/**
 * Reads the rate limit of a project and the state of its token bucket, without locking them.
 * `fullAtUs` is the time at which the bucket is full again, by the steady clock.
 */
export async function readBucketState(tx: ReadTx, projectId: string) {
  const query = tx.build
    .selectFrom('projects')
    .innerJoin('buckets', 'buckets.projectId', 'projects.projectId')
    .select(['sustainedPerS', 'burst', 'fullAtUs'])
    .where('projects.projectId', '=', projectId)
  return (await tx.run(query))[0]
}
