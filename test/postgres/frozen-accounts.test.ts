import assert from 'node:assert/strict'
import { mkdtemp, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { test } from 'node:test'
import { cliOutput, runCli } from '../support/cli/run-cli.ts'
import { createMigratedDatabase } from '../support/database/engine.ts'
import { postgresSkipReason, sharedPostgresServer } from '../support/database/postgres-server.ts'
import { imageParams, startGallery } from '../support/gallery/test-gallery.ts'
import { queryAllAccounts, waitUntil } from '../support/migration/run-migration.ts'
import { webhookSettings } from '../support/webhooks/webhook-settings.ts'

const skip = postgresSkipReason ?? false

type SourceDatabases = Awaited<ReturnType<typeof openDatabases>>

/** A database with three accounts, and an empty one with the same master key. No server runs. */
async function openDatabases(opened: AsyncDisposableStack) {
  const dataDir = await mkdtemp(path.join(tmpdir(), 'facegate-frozen-'))
  opened.defer(() => rm(dataDir, { recursive: true, force: true }))
  const [a, b] = [await createMigratedDatabase(), await createMigratedDatabase()]
  for (const database of [a, b]) opened.use(database)
  const masterKeyFile = path.join(dataDir, 'master.key')
  const settingsOf = ({ url }: { readonly url: string }) => ({
    DATABASE_URL: url,
    MASTER_KEY_FILE: masterKeyFile,
    DATA_DIR: dataDir,
    SEARCH: 'memory',
    ...webhookSettings,
  })
  await using service = await startGallery({ dataDir, environment: settingsOf(a) })
  const [second, third] = [
    await service.createProjectClient({ galleryMode: 'isolated' }),
    await service.createProjectClient({ galleryMode: 'isolated' }),
  ]
  const { subjectId } = await third.value('svc.enroll', imageParams('Ada'))
  const accounts = await cliOutput(['account', 'list', '--json'], settingsOf(a))
  const [oldestId = ''] = JSON.parse(accounts).map(
    ({ accountId }: { readonly accountId: string }) => accountId,
  )
  const ids = [oldestId, second.project.accountId, third.project.accountId] as const
  const { key } = service
  return { dataDir, masterKeyFile, a, b, settingsOf, key, ids, second, third, subjectId }
}

/** Returns the account of the newest entry of an action. */
async function accountOfEntry(url: string, auditAction: string): Promise<unknown> {
  const text = `select "accountId" from "auditLog" where "auditAction" = '${auditAction}'
    order by "auditId" desc limit 1`
  return (await queryAllAccounts(url, text))[0]?.['accountId']
}

/** Deletes the person of the third account, and replays the deletion in a copy from before it. */
async function replayInCopy({ dataDir, a, settingsOf, key, third, subjectId }: SourceDatabases) {
  const server = await sharedPostgresServer()
  await using copy = await server.createDatabase({ template: a.name })
  {
    await using service = await startGallery({ dataDir, key, environment: settingsOf(a) })
    await service.withKey(third.key).value('svc.deleteSubject', { subjectId })
  }
  const file = path.join(dataDir, 'deletions.jsonl')
  await cliOutput(['deletions', 'export', '--to', file], settingsOf(a))
  await cliOutput(['deletions', 'replay', '--from', file], settingsOf(copy))
  assert.deepEqual(await queryAllAccounts(copy.url, 'select from subjects'), [])
  return await accountOfEntry(copy.url, 'deletions.replay')
}

test(
  'Commands record their changes in the log of an account that no move froze',
  { skip },
  async () => {
    await using opened = new AsyncDisposableStack()
    const databases = await openDatabases(opened)
    const { a, b, ids, masterKeyFile, settingsOf } = databases
    const [oldestId, secondId, thirdId] = ids
    const run = (...args: string[]) => cliOutput(args, settingsOf(a))
    await run('account', 'move', oldestId, '--to', b.url)
    assert.equal(await replayInCopy(databases), secondId)
    await run('models', 'use', 'builtin')
    assert.equal(await accountOfEntry(a.url, 'models.use'), secondId)
    await run('account', 'move', secondId, '--to', b.url)
    await run('account', 'remove', secondId)
    assert.equal(await accountOfEntry(a.url, 'account.remove'), thirdId)

    await run('account', 'move', thirdId, '--to', b.url)
    const before = await readFile(masterKeyFile)
    const failed = await runCli(['key', 'add-master'], settingsOf(a))
    assert.match(failed.err, /is frozen by its move to .* \(facegate account remove\)/u)
    assert.deepEqual(await readFile(masterKeyFile), before)
    for (const accountId of [thirdId, oldestId]) await run('account', 'remove', accountId)
    assert.equal((await queryAllAccounts(a.url, 'select from accounts')).length, 0)
  },
)

test('Webhooks are swept and deleted beside those of a frozen account', { skip }, async () => {
  await using opened = new AsyncDisposableStack()
  const { dataDir, a, b, settingsOf, key, ids, third } = await openDatabases(opened)
  const run = (...args: string[]) => cliOutput(args, settingsOf(a))
  const query = (text: string) => queryAllAccounts(a.url, text)
  const [{ projectId: frozenId } = {}] = await query(
    `select "projectId" from projects where "accountId" = '${ids[0]}'`,
  )
  const create = async (projectId: string) => {
    const options = ['--url', 'http://127.0.0.1:9/x', '--events', 'budget.low', '--json']
    return JSON.parse(await run('webhook', 'create', '--project', projectId, ...options)).webhookId
  }
  const addDelivery = (webhookId: string, projectId: string, state: string) =>
    query(`insert into "webhookDeliveries"
      ("eventId", "webhookId", "projectId", type, data, state, "createdAtMs", "queuedAtMs", "dueAtMs")
      values (gen_random_uuid(), '${webhookId}', '${projectId}', 'budget.low', '{}', '${state}', 1, 1, 1e14)`)
  const frozenWebhookId = await create(String(frozenId))
  const interruptedId = await create(String(frozenId))
  await addDelivery(frozenWebhookId, String(frozenId), 'pending')
  await query(`update "webhookSecrets" set "expiresAtMs" = 1`)
  // A process was killed between the two transactions of a deletion.
  await query(`update webhooks set events = '[]' where "webhookId" = '${interruptedId}'`)
  await run('account', 'move', ids[0], '--to', b.url)

  const { projectId } = third.project
  const webhookIds = [await create(projectId), await create(projectId)] as const
  await run('webhook', 'delete', webhookIds[0])
  const webhooks = await query(
    `select "webhookId" from webhooks where "projectId" = '${projectId}'`,
  )
  assert.deepEqual(webhooks, [{ webhookId: webhookIds[1] }])
  for (const state of ['pending', 'failed']) await addDelivery(webhookIds[1], projectId, state)
  await query(
    `update "webhookSecrets" set "expiresAtMs" = 1 where "webhookId" = '${webhookIds[1]}'`,
  )
  await using _service = await startGallery({ dataDir, key, environment: settingsOf(a) })
  const secrets = `select from "webhookSecrets" where "webhookId" = '${webhookIds[1]}'`
  await waitUntil(async () => (await query(secrets)).length === 0)
  const states = `select state from "webhookDeliveries" where "projectId" = '${String(frozenId)}'`
  assert.deepEqual(await query(states), [{ state: 'pending' }])
})

test(
  'A replay of deletions stops at the missing records of a frozen account, after all others',
  { skip },
  async () => {
    await using opened = new AsyncDisposableStack()
    const { dataDir, a, settingsOf, key, ids, second, third, subjectId } =
      await openDatabases(opened)
    const server = await sharedPostgresServer()
    const run = async (client: SourceDatabases['third'], action: string, params: object) => {
      await using service = await startGallery({ dataDir, key, environment: settingsOf(a) })
      return await service.withKey(client.key).value(action, params)
    }
    const other = await run(second, 'svc.enroll', imageParams('Ada'))
    await using copy = await server.createDatabase({ template: a.name })
    await run(third, 'svc.deleteSubject', { subjectId })
    await run(second, 'svc.deleteSubject', { subjectId: other.subjectId })
    const file = path.join(dataDir, 'deletions.jsonl')
    await cliOutput(['deletions', 'export', '--to', file], settingsOf(a))
    const setFrozen = (isFrozen: 0 | 1) =>
      queryAllAccounts(
        copy.url,
        `update projects set "isFrozen" = ${isFrozen} where "accountId" = '${ids[2]}'`,
      )
    const subjects = async () =>
      (await queryAllAccounts(copy.url, 'select "subjectId" from subjects')).map(
        (row) => row['subjectId'],
      )
    await setFrozen(1)
    const replay = ['deletions', 'replay', '--from', file]
    const failed = await runCli(replay, settingsOf(copy))
    assert.match(failed.err, new RegExp(`are missing: ${ids[2]}.*account move --cancel`, 'u'))
    assert.deepEqual(await subjects(), [subjectId])
    await setFrozen(0)
    await cliOutput(replay, settingsOf(copy))
    assert.deepEqual(await subjects(), [])
  },
)
