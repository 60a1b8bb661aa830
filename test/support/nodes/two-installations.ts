import { randomUUID } from 'node:crypto'
import { once } from 'node:events'
import { mkdtemp, rm } from 'node:fs/promises'
import { request, type IncomingMessage } from 'node:http'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { runAsAccount } from '../../../src/lib/account-context.ts'
import { ownedBy, readAccountIds } from '../../../src/store/account-move/copy-account.ts'
import { runnerOf } from '../../../src/store/account-move/frozen-account.ts'
import { accountTables } from '../../../src/store/sqlite-to-postgres/tables.ts'
import type { Project } from '../../../src/store/tenancy/projects.ts'
import { addUser } from '../../../src/store/console/users.ts'
import { cliOutput, startCli } from '../cli/run-cli.ts'
import { createMigratedDatabase } from '../database/engine.ts'
import { signDeletion } from '../database/sign-deletion.ts'
import { createTestClient } from '../facegate/test-client.ts'
import { fillTemplates } from '../gallery/fill-templates.ts'
import {
  createGalleryClient,
  imageParams,
  startGallery,
  type TestGallery,
} from '../gallery/test-gallery.ts'
import { holdLock, killWhen, queryAllAccounts } from '../migration/run-migration.ts'
import { startHaProxy } from '../network/haproxy.ts'

/** Two installations with one master key, and the settings of commands for each of them. */
export type TestSite = {
  readonly gallery: TestGallery
  readonly url: string
  readonly settings: Readonly<Record<string, string>>
}

type TestSiteOptions = {
  /** Awaited before each response of the fake vision client. */
  readonly onAnalyze?: () => Promise<unknown>
  readonly search?: 'memory' | 'pgvector'
}

async function startInstallation(
  opened: AsyncDisposableStack,
  dataDir: string,
  { onAnalyze, search = 'memory' }: TestSiteOptions = {},
): Promise<TestSite> {
  const { url } = opened.use(await createMigratedDatabase())
  const masterKeyFile = path.join(path.dirname(dataDir), 'master.key')
  const settings = { DATABASE_URL: url, MASTER_KEY_FILE: masterKeyFile, DATA_DIR: dataDir }
  // The proxy checks the readiness of the servers.
  const fallback = () => ({ status: 200, body: {} })
  const environment = { ...settings, SEARCH: search, BEARER_KEYS: 'on' }
  const options = { dataDir, environment, fallback, ...(onAnalyze && { onAnalyze }) }
  return { gallery: opened.use(await startGallery(options)), url, settings }
}

/** Starts two installations with one master key. */
export async function createInstallations(
  opened: AsyncDisposableStack,
  options: { readonly a?: TestSiteOptions; readonly b?: TestSiteOptions } = {},
) {
  const root = await mkdtemp(path.join(tmpdir(), 'facegate-account-move-'))
  opened.defer(() => rm(root, { recursive: true, force: true }))
  const a = await startInstallation(opened, path.join(root, 'a'), options.a)
  const b = await startInstallation(opened, path.join(root, 'b'), options.b)
  return { a, b }
}

/** The map of the proxy: the keys of both installations. */
export async function routesOf(a: TestSite, b: TestSite): Promise<string> {
  const of = ({ settings }: TestSite, name: string) =>
    cliOutput(['key', 'routes', '--to', name], settings)
  return (await of(a, 'a')) + (await of(b, 'b'))
}

/** Returns the account of a project. */
export async function accountIdOf(gallery: TestGallery, projectId: string): Promise<string> {
  const { db } = gallery.database.store
  const query = db.selectFrom('projects').select('accountId').where('projectId', '=', projectId)
  return (await query.executeTakeFirstOrThrow()).accountId
}

/** Two installations behind the proxy. An account with two projects is in the first one. */
export async function startRouted(opened: AsyncDisposableStack) {
  const { a, b } = await createInstallations(opened)
  const isolated = await a.gallery.createProjectClient({ galleryMode: 'isolated' })
  const accountId = await accountIdOf(a.gallery, isolated.project.projectId)
  const shared = await a.gallery.createProjectClient({ galleryMode: 'shared', accountId })
  await addSameUser(a, accountId)
  await addSameUser(b, await accountIdOf(b.gallery, await firstProjectId(b)))
  const proxy = opened.use(
    await startHaProxy({
      a: a.gallery.url,
      b: b.gallery.url,
      keys: await routesOf(a, b),
      hosts: 'b.example.org b\n',
    }),
  )
  const through = ({ key }: { readonly key: string }) =>
    createGalleryClient(createTestClient(proxy.url, key))
  return {
    a,
    b,
    proxy,
    accountId,
    projectId: isolated.project.projectId,
    isolated: through(isolated),
    shared: through(shared),
    ofA: through(a.gallery),
    ofB: through(b.gallery),
    command: ['account', 'move', accountId, '--to', b.url],
  }
}

/** The installations, clients of their keys through the proxy, and the command of a move. */
export type RoutedSites = Awaited<ReturnType<typeof startRouted>>

/** Returns the number of rows of the account in all tables. */
export async function countRows({ gallery }: TestSite, accountId: string): Promise<number> {
  const { db } = gallery.database.store
  const on = runnerOf(db)
  const ids = await readAccountIds(on, accountId)
  let rows = 0
  for (const { name, column } of accountTables) {
    const condition = ownedBy(ids, column) ?? 'false'
    const { rows: found } = await on.run({
      text: `select count(*) as count from "${name}" where ${condition}`,
    })
    rows += Number(found[0]?.['count'])
  }
  return rows
}

/** Returns the project of the first start. */
export async function firstProjectId({ gallery }: TestSite): Promise<string> {
  const query = gallery.database.store.db.selectFrom('projects').select('projectId')
  return (await query.orderBy('createdAtUtc').executeTakeFirstOrThrow()).projectId
}

async function addSameUser({ gallery }: TestSite, accountId: string): Promise<void> {
  const user = {
    userId: randomUUID(),
    accountId,
    name: 'Olga',
    role: 'owner' as const,
    password: null,
  }
  const times = { createdAtUtc: new Date().toISOString(), lastSeenAtUtc: null, disabledAtUtc: null }
  await gallery.database.store.write((tx) => addUser(tx, { ...user, ...times }))
}

/** Kills a move that waits for a lock of the target after it has copied rows. */
export async function killWhileCopying({ a, b, command }: RoutedSites): Promise<void> {
  await using _lock = await holdLock(b.url, 'lock table templates in access exclusive mode')
  await killWhen(startCli(command, a.settings), async () => {
    const waiting = await queryAllAccounts(
      b.url,
      `select from pg_stat_activity where datname = current_database()
         and wait_event_type = 'Lock' and query like 'insert into "templates"%'`,
    )
    return waiting.length > 0
  })
}

/** Sends a call with these headers; `fetch` would not send another host name. */
export async function executeStatus(
  url: string,
  headers: Readonly<Record<string, string>>,
): Promise<number | undefined> {
  const sent = request(`${url}/v1/face/execute`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', ...headers },
  })
  sent.end(JSON.stringify({ action: 'svc.detect', params: imageParams('Ada') }))
  const [response] = (await once(sent, 'response')) as [IncomingMessage]
  response.resume()
  return response.statusCode
}

const subjectsPerTransaction = 250
const dimensions = 256

/** Deletes a project of the account, and adds subjects with one face, without calls. */
export async function fillAccount(
  site: TestSite,
  project: Project,
  subjects: number,
): Promise<void> {
  const { gallery, settings } = site
  await deleteProject(site, project.accountId)
  const dataDir = path.dirname(settings['MASTER_KEY_FILE'] ?? '')
  for (let from = 0; from < subjects; from += subjectsPerTransaction) {
    const people = Array.from({ length: subjectsPerTransaction }, (_, index) => {
      const vector = Float32Array.from({ length: dimensions }, () => Math.random() - 0.5)
      const template = { modelId: 'people@1', vector, density: 0 }
      return { externalId: `filled ${from + index}`, groups: ['all'], templates: [template] }
    })
    await fillTemplates({ dataDir, database: gallery.database }, project, people)
  }
}

/** Signs a certificate of a deletion of the account. @returns its file. */
export async function certifyDeletion(
  opened: AsyncDisposableStack,
  { a, accountId, shared }: RoutedSites,
): Promise<string> {
  const [record] = (await shared.rest('GET', '/v1/deletions')).body.items
  const file = path.join(tmpdir(), `certificate-${randomUUID()}.json`)
  opened.defer(() => rm(file))
  const { store } = a.gallery.database
  const { deletionId } = record
  const dataDir = path.dirname(a.settings['MASTER_KEY_FILE'] ?? '')
  await runAsAccount(accountId, () => signDeletion(file, { store, dataDir, deletionId, accountId }))
  return file
}

/** Adds a project with a charged call to the account, and deletes it. */
async function deleteProject({ gallery, settings }: TestSite, accountId: string): Promise<void> {
  const client = await gallery.createProjectClient({ galleryMode: 'isolated', accountId })
  await client.value('svc.enroll', imageParams('Eva'))
  await cliOutput(['project', 'delete', client.project.projectId, '--yes'], settings)
}
