import assert from 'node:assert/strict'
import { rm } from 'node:fs/promises'
import { test } from 'node:test'
import { DatabaseError } from 'pg'
import { sql } from '../../src/store/database.ts'
import { createLog } from '../../src/lib/log.ts'
import { faultOf } from '../../src/store/postgres/connection/fault.ts'
import {
  parseServerAddress,
  throwExplained,
} from '../../src/store/postgres/connection/server-address.ts'
import { createDataFolder } from '../support/database/data-folder.ts'
import { createMigratedDatabase, openTestStore } from '../support/database/engine.ts'
import { postgresSkipReason } from '../support/database/postgres-server.ts'
import { imageParams, type TestGallery } from '../support/gallery/test-gallery.ts'
import { startConsole, type ConsoleClient } from '../support/console/test-console.ts'
import { queryAllAccounts } from '../support/migration/run-migration.ts'

type FullDisk = {
  readonly environment: Readonly<Record<string, string>>
  readonly fill: (gallery: TestGallery) => Promise<unknown>
  readonly free: (gallery: TestGallery) => Promise<unknown>
  /** The error of the database. */
  readonly cause: RegExp
}

const detail = 'The disk of the database is full.'

/** Sends calls and a change of the console while the disk is full, and a call afterwards. */
async function assertReported({ environment, fill, free, cause }: FullDisk): Promise<void> {
  const lines: string[] = []
  const log = createLog('info', { write: (line) => void lines.push(line) })
  await using testConsole = await startConsole({ environment, log })
  const { gallery, owner } = testConsole
  await gallery.value('svc.enroll', imageParams('Ada'))
  await fill(gallery)
  const refused = await gallery.call('svc.enroll', imageParams('Ben'))
  assert.deepEqual([refused.status, refused.body.detail], [503, detail])
  assert.ok(refused.headers.get('retry-after'))
  assert.deepEqual(await addProjectsUntilRefused(owner), [503, detail])
  const logged = lines.filter((line) => cause.test(line))
  assert.ok(logged.length >= 2, lines.join(''))
  assert.match(logged[0] ?? '', /"level":"warn".*"requestId"/u)
  await free(gallery)
  assert.equal((await gallery.value('svc.enroll', imageParams('Ben'))).created, true)
}

/** Pages of the database that have free space take some projects. */
const projectsMax = 200

async function addProjectsUntilRefused(owner: ConsoleClient): Promise<unknown> {
  for (let number = 0; number < projectsMax; number++) {
    const project = { name: `project ${number}`, galleryMode: 'isolated' }
    const { status, body } = await owner.send('POST', '/projects', project)
    if (status !== 200) return [status, body.detail]
  }
  return 'not refused'
}

test('SQLite: a full disk is reported as one, and its cause is logged', async () => {
  const limit = (pages: string) => (gallery: TestGallery) =>
    sql.raw(`pragma max_page_count = ${pages}`).execute(gallery.database.store.db)
  await assertReported({
    environment: { DATABASE_URL: '' },
    // A lower limit than the present size is that size.
    fill: limit('1'),
    free: limit('4294967294'),
    cause: /database or disk is full/u,
  })
})

test(
  'PostgreSQL: a full disk is reported as one, and its cause is logged',
  { skip: postgresSkipReason ?? false },
  async () => {
    await using database = await createMigratedDatabase()
    const run = (text: string) => () => queryAllAccounts(database.url, text)
    const tables = ['attempts', 'projects']
    await assertReported({
      environment: { DATABASE_URL: database.url },
      fill: run(`create function fail() returns trigger language plpgsql as $$ begin
          raise exception 'could not extend file: No space left on device' using errcode = '53100';
        end $$;
        ${tables.map((table) => `create trigger full_disk before insert or update on ${table} for each row execute function fail();`).join('\n')}`),
      free: run('drop function fail cascade'),
      cause: /No space left on device/u,
    })
  },
)

test('SQLite: a transaction that the full disk has rolled back is reported as a full disk', async () => {
  const dataDir = await createDataFolder()
  const store = await openTestStore(dataDir)
  const large = sql.lit('x'.repeat(100_000))
  const fill = store.runExclusive(async ({ db }) => {
    await sql`create table large (text)`.execute(db)
    await sql`pragma max_page_count = 1`.execute(db)
    await sql`insert into large values (${large})`.execute(db)
  })
  await assert.rejects(fill, { status: 503, message: detail })
  await sql`pragma max_page_count = 4294967294`.execute(store.db)
  await store.runExclusive(({ db }) => sql`create table large (text)`.execute(db))
  await store.close()
  await rm(dataDir, { recursive: true })
})

test('PostgreSQL: a migration or a move names a full disk, and the log if the server ends', () => {
  const explain = throwExplained(parseServerAddress('postgres://role@host:5432/faces'))
  const thrown = (error: Error) => () => explain(faultOf(error).error)
  const full = Object.assign(new DatabaseError('could not extend file', 1, 'error'), {
    code: '53100',
  })
  assert.throws(thrown(full), /the disk of host:5432 is full: could not extend file; free space/u)
  const lost = new Error('Connection terminated unexpectedly')
  assert.throws(
    thrown(lost),
    /its log names the cause, such as a full disk; run the command again/u,
  )
})
