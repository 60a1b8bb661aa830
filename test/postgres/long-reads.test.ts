import assert from 'node:assert/strict'
import { test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { Client } from 'pg'
import { startConsole } from '../support/console/test-console.ts'
import { createMigratedDatabase } from '../support/database/engine.ts'
import { postgresSkipReason } from '../support/database/postgres-server.ts'
import { startCli } from '../support/cli/run-cli.ts'
import { imageParams, startGallery } from '../support/gallery/test-gallery.ts'

test(
  'A command that reads for longer than a call may returns its result',
  { skip: postgresSkipReason ?? false },
  async () => {
    await using database = await createMigratedDatabase()
    await using service = await startGallery({ environment: { DATABASE_URL: database.url } })
    await service.value('svc.enroll', imageParams('Ada'))
    const admin = new Client({ connectionString: database.url })
    await admin.connect()
    await admin.query('begin')
    await admin.query('lock table templates in access exclusive mode')
    const { dataDir } = service
    const environment = { DATABASE_URL: database.url, DATA_DIR: dataDir }
    const command = startCli(['models', 'status', '--json'], environment)
    /** Whether a statement waits for longer than the statement timeout of calls, 2 s. */
    const isLong = async () => {
      const { rowCount } = await admin.query(
        `select from pg_stat_activity where datname = current_database() and state = 'active'
         and wait_event_type = 'Lock' and query like '%"templates"%'
         and clock_timestamp() - query_start > interval '2.5 s'`,
      )
      await admin.query('select pg_stat_clear_snapshot()')
      return rowCount === 1
    }
    while (command.process.exitCode === null && !(await isLong())) await sleep(20)
    await admin.query('rollback')
    const { code, out, err } = await command.result
    assert.equal(code, 0, err)
    assert.equal(JSON.parse(out).models.length, 2)
    await admin.end()
  },
)

test(
  'While lists of one account wait for the database, calls of every account are answered',
  { skip: postgresSkipReason ?? false },
  async () => {
    await using database = await createMigratedDatabase()
    await using service = await startConsole({ environment: { DATABASE_URL: database.url } })
    const { gallery, owner, projectId } = service
    const other = await gallery.createProjectClient({ galleryMode: 'isolated' })
    await gallery.value('svc.enroll', { ...imageParams('Ada'), groups: ['staff'] })
    const admin = new Client({ connectionString: database.url })
    await admin.connect()
    const countWaiting = async () => {
      const { rows } = await admin.query<{ count: number }>(
        `select count(*)::int as count from pg_locks
         where not granted and relation = '"subjectGroups"'::regclass`,
      )
      return rows[0]?.count ?? 0
    }
    await admin.query('begin')
    await admin.query('lock table "subjectGroups" in access exclusive mode')
    const lists = Array.from({ length: 20 }, (_, index) => [
      gallery.rest('GET', index % 2 === 0 ? '/v1/groups' : '/v1/subjects?q=ada&total=true'),
      owner.get(`/projects/${projectId}/groups`),
    ]).flat()
    // Two lists of keys and two of the console.
    while ((await countWaiting()) < 4) await sleep(5)
    for (const client of [other, gallery, other, gallery, other])
      assert.equal((await client.value('svc.detect', imageParams('Ben'))).faces.length, 1)
    assert.equal(await countWaiting(), 4)
    await admin.query('rollback')
    const statuses = (await Promise.all(lists)).map(({ status }) => status)
    assert.deepEqual(new Set(statuses), new Set([200]))
    await admin.end()
  },
)
