import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { consoleLink } from '../../src/cli/tenancy/commands.ts'
import { runJson } from '../support/cli/run-json.ts'
import { startConsole, type ConsoleClient, validPassword } from '../support/console/test-console.ts'
import { createMigratedDatabase } from '../support/database/engine.ts'
import { postgresSkipReason } from '../support/database/postgres-server.ts'
import { imageParams } from '../support/gallery/test-gallery.ts'
import { holdLock, queryAllAccounts } from '../support/migration/run-migration.ts'

describe('The console of several accounts', { skip: postgresSkipReason ?? false }, () => {
  const stack = new AsyncDisposableStack()
  let database: Awaited<ReturnType<typeof createMigratedDatabase>>
  let service: Awaited<ReturnType<typeof startConsole>>
  let bob: ConsoleClient
  let otherProjectId: string

  before(async () => {
    database = stack.use(await createMigratedDatabase())
    service = stack.use(await startConsole({ environment: { DATABASE_URL: database.url } }))
    const { gallery, newClient } = service
    const { project } = await gallery.createProjectClient({ galleryMode: 'isolated' })
    otherProjectId = project.projectId
    const line = `link --account ${project.accountId} --user Bob`
    const environment = { DATABASE_URL: database.url }
    const { link } = await runJson(gallery.dataDir, consoleLink, line, environment)
    bob = newClient()
    const token = link.split('#')[1]
    const setUp = await bob.send('POST', '/setup', { token, password: validPassword })
    assert.equal(setUp.status, 200, setUp.text)
  })

  after(() => stack.disposeAsync())

  test('A change that waits for a gallery delays no change and no sign-in of another account', async () => {
    const { gallery, owner, newClient, projectId } = service
    const { subjectId } = await gallery.value('svc.enroll', imageParams('Ada'))
    const lock = `select pg_advisory_xact_lock(hashtextextended('gallery:' || "galleryId", 0)) from subjects`
    const held = await holdLock(database.url, lock)
    const waiting = owner.send('PATCH', `/projects/${projectId}/subjects/${subjectId}`, {
      displayName: 'Ada L.',
    })
    const isWaiting = `select 1 from pg_locks where locktype = 'advisory' and not granted`
    while ((await queryAllAccounts(database.url, isWaiting)).length === 0);
    // A command excludes the changes of all accounts, but only while it runs.
    const environment = { DATABASE_URL: database.url }
    const link = runJson(gallery.dataDir, consoleLink, 'link', environment)
    const waits = `select 1 from pg_stat_activity where query like '%advisory_xact_lock(%'
      and state <> 'idle' and datname = current_database() and pid <> pg_backend_pid()`
    while ((await queryAllAccounts(database.url, waits)).length < 2);
    const credentials = { name: 'Bob', password: validPassword }
    const signIn = await newClient().send('POST', '/sign-in', credentials)
    assert.equal(signIn.status, 200, signIn.text)
    const change = await bob.send('PATCH', `/projects/${otherProjectId}`, { name: 'Renamed' })
    assert.equal(change.status, 200, change.text)
    assert.equal((await queryAllAccounts(database.url, isWaiting)).length, 1)
    await held[Symbol.asyncDispose]()
    assert.equal((await waiting).status, 200)
    assert.match((await link).link, /\/setup#/u)
  })

  test('The name of a user of another account is refused', async () => {
    const invited = await bob.send('POST', '/users', { name: 'Olga', role: 'viewer' })
    assert.equal(invited.status, 409, invited.text)
    assert.match(invited.text, /another name: a user of this or of another account has this name/u)
  })
})
