import assert from 'node:assert/strict'
import path from 'node:path'
import { test } from 'node:test'
import { accountCommands } from '../../src/cli/account/commands.ts'
import { deletions } from '../../src/cli/database/commands.ts'
import { exportDeletions } from '../../src/gallery/deletion/deletions-file.ts'
import { replayDeletions } from '../../src/gallery/deletion/replay-deletions.ts'
import { runJson, runLines } from '../support/cli/run-json.ts'
import { createMigratedDatabase } from '../support/database/engine.ts'
import {
  postgresSkipReason,
  sharedPostgresServer,
  type TestDatabase,
} from '../support/database/postgres-server.ts'
import { createFolders, enroll, isFound } from '../support/gallery/database-copy.ts'
import { imageParams, startGallery } from '../support/gallery/test-gallery.ts'

/** Two databases with one master key. The first one contains an account with one enrolled person. */
async function createDatabases(opened: AsyncDisposableStack) {
  const { dataDir, records } = opened.use(await createFolders())
  const settingsOf = ({ url }: TestDatabase) => ({
    DATABASE_URL: url,
    MASTER_KEY_FILE: path.join(dataDir, 'master.key'),
  })
  const start = (database: TestDatabase, key?: string) =>
    startGallery({ dataDir, key, environment: settingsOf(database) })
  const a = opened.use(await createMigratedDatabase())
  const b = opened.use(await createMigratedDatabase())
  await using gallery = await start(a)
  const client = await gallery.createProjectClient({ galleryMode: 'isolated' })
  const [gone] = await enroll(client, 'Gone')
  await client.value('svc.deleteSubject', { subjectId: gone })
  const { subjectId } = await client.value('svc.enroll', imageParams('Ada'))
  await runJson(dataDir, deletions, `export --to ${records}`, settingsOf(a))
  const { accountId } = client.project
  const run = (database: TestDatabase, command: string, options = '') =>
    runJson(dataDir, accountCommands, `${command} ${accountId} ${options}`, settingsOf(database))
  return {
    a,
    b,
    key: client.key,
    subjectId,
    start,
    move: (from: TestDatabase, to: TestDatabase, options = '') =>
      run(from, 'move', `--to ${to.url} ${options}`),
    /** Replays the deletion records from before the first move. */
    replay: (database: TestDatabase) =>
      runJson(dataDir, deletions, `replay --from ${records}`, settingsOf(database)),
    remove: (from: TestDatabase) => run(from, 'remove'),
    /** The state of the account in a database; undefined: it does not contain the account. */
    stateIn: async (database: TestDatabase): Promise<string | undefined> => {
      const rows = await runJson(dataDir, accountCommands, 'list', settingsOf(database))
      return rows.find((row: { accountId: string }) => row.accountId === accountId)?.state
    },
    /** Copies a database that no process uses, as a backup and its restore do. */
    copy: async ({ name }: TestDatabase) =>
      opened.use(await (await sharedPostgresServer()).createDatabase({ template: name })),
  }
}

test('A replay skips the records of accounts that the database does not contain', async () => {
  await using folders = await createFolders()
  const { dataDir, records } = folders
  await using other = await startGallery()
  const [subjectId] = await enroll(other, 'A')
  await other.value('svc.deleteSubject', { subjectId })
  await exportDeletions(other.database.store, records)
  await using gallery = await startGallery({ dataDir })
  const { skipped, inserted } = await replayDeletions(gallery.database.store, records)
  assert.deepEqual([skipped, inserted], [1, 0])
  assert.deepEqual((await gallery.rest('GET', '/v1/deletions')).body.items, [])
  const [printed] = await runLines(dataDir, deletions, `replay --from ${records}`)
  assert.match(printed ?? '', /; 1 record skipped, of accounts that the database does not contain/u)
  const rows = await gallery.database.store.db.selectFrom('deletions').selectAll().execute()
  assert.deepEqual(rows, [])
})

const skip = postgresSkipReason ?? false

test(
  'A replay skips the deletion records of a removed account, which can be moved back',
  { skip },
  async () => {
    await using opened = new AsyncDisposableStack()
    const { a, b, key, start, move, remove, replay, stateIn } = await createDatabases(opened)
    await move(a, b)
    await remove(a)
    const { skipped, inserted } = await replay(a)
    assert.deepEqual([skipped, inserted], [1, 0])
    await move(b, a)
    assert.deepEqual([await stateIn(a), await stateIn(b)], ['active', 'moved to'])
    await using gallery = await start(a, key)
    assert.equal(await isFound(gallery, 'Ada'), true)
  },
)

test(
  'A copy of an account from before its move is frozen and removed, and never the newer one',
  { skip },
  async () => {
    await using opened = new AsyncDisposableStack()
    const { a, b, key, subjectId, start, move, remove, stateIn, copy } =
      await createDatabases(opened)
    const restored = await copy(a)
    await move(a, b)
    await remove(a)
    const movedCopy = await copy(b)
    {
      await using gallery = await start(b, key)
      await gallery.value('svc.deleteSubject', { subjectId })
    }
    {
      await using gallery = await start(restored, key)
      assert.equal(await isFound(gallery, 'Ada'), true, 'the deletion is in the other database')
      assert.equal(await stateIn(restored), 'active')
      const { summary } = await move(restored, b)
      assert.equal(summary, undefined, 'nothing is copied')
      assert.equal((await gallery.call('svc.identify', imageParams('Ada'))).status, 503)
      assert.equal((await gallery.rest('GET', '/v1/subjects')).status, 503)
      assert.equal(await stateIn(restored), 'moved to')
      await assert.rejects(move(restored, b, '--cancel'), /already contains the account/u)
      await remove(restored)
    }
    assert.deepEqual([await stateIn(restored), await stateIn(b)], [undefined, 'active'])

    await move(b, a)
    await assert.rejects(move(a, b), /already contains the account/u, 'the frozen copy')
    await remove(b)
    await assert.rejects(move(a, movedCopy), /already contains the account/u, 'an older copy')
    assert.equal(await stateIn(a), 'active')
    await move(movedCopy, a)
    await remove(movedCopy)
    await using gallery = await start(a, key)
    assert.equal(await isFound(gallery, 'Ada'), false)
    assert.equal((await enroll(gallery, 'Ben')).length, 1)
  },
)

test(
  'A move into a database with another master key is refused, also before it encrypts anything',
  {
    skip: postgresSkipReason ?? false,
  },
  async () => {
    await using opened = new AsyncDisposableStack()
    const { a, b, move, stateIn } = await createDatabases(opened)
    const { dataDir } = opened.use(await createFolders())
    await using other = await startGallery({ dataDir, environment: { DATABASE_URL: b.url } })
    await assert.rejects(move(a, b), /use another master key/u)
    assert.deepEqual([await stateIn(a), await stateIn(b)], ['active', undefined])
    assert.equal((await enroll(other, 'Ben')).length, 1)
  },
)
