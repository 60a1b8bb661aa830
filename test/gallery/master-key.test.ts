import assert from 'node:assert/strict'
import {
  chmod,
  chown,
  copyFile,
  lstat,
  mkdir,
  mkdtemp,
  open,
  readFile,
  rename,
  rm,
  stat,
  symlink,
} from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { randomUUID } from 'node:crypto'
import { DatabaseSync } from 'node:sqlite'
import { test } from 'node:test'
import { keyCommands } from '../../src/cli/tenancy/commands.ts'
import { masterKeyLock, openKeyring } from '../../src/gallery/keys/keyring.ts'
import { sql } from '../../src/store/database.ts'
import { updateProject } from '../../src/store/tenancy/projects.ts'
import { runJson } from '../support/cli/run-json.ts'
import { runWithKeyFile } from '../support/cli/run-with-key-file.ts'
import { isOnPostgres } from '../support/database/engine.ts'
import { frameImages, framesOf } from '../support/gallery/challenge-frames.ts'
import { proveLiveness } from '../support/gallery/challenge-gallery.ts'
import { imageParams, startGallery } from '../support/gallery/test-gallery.ts'
import type { AngleRange, ChallengeStep } from '../../src/lib/liveness/challenge-steps.ts'

/** Creates a data folder and returns the path of its master key. */
async function createFolder() {
  const dataDir = await mkdtemp(path.join(tmpdir(), 'facegate-master-key-'))
  return {
    dataDir,
    file: path.join(dataDir, 'master.key'),
    [Symbol.asyncDispose]: () => rm(dataDir, { recursive: true }),
  }
}

test('A key rotation prepared on every server keeps all subjects, including those enrolled meanwhile', async () => {
  await using folder = await createFolder()
  const { dataDir, file } = folder
  let key: string
  let otherKey: string
  {
    await using gallery = await startGallery({ dataDir })
    key = gallery.key
    await gallery.value('svc.enroll', imageParams('Ann'))
    // The server and the command line use different copies of the file.
    const cliFile = path.join(dataDir, 'cli.key')
    await copyFile(file, cliFile)
    await runWithKeyFile(dataDir, cliFile, 'add-master')
    await copyFile(cliFile, file)
    const rotated = await runWithKeyFile(dataDir, cliFile, 'rotate-master --prepared')
    assert.deepEqual(rotated, { galleries: 1, subjects: 1, renewed: 0, unreadable: 0 })
    assert.equal((await readFile(cliFile, 'utf8')).trim().split('\n').length, 1)
    const second = await gallery.createProjectClient({ galleryMode: 'isolated' })
    otherKey = second.key
    await second.value('svc.enroll', imageParams('Bea'))
    await rename(cliFile, file)
    await second.value('svc.enroll', imageParams('Cid'))
    // Without copies: the server wraps with the new key, although it has the old one in memory.
    await runJson(dataDir, keyCommands, 'rotate-master')
    const third = await gallery.createProjectClient({ galleryMode: 'isolated' })
    await third.value('svc.enroll', imageParams('Dan'))
  }
  await using gallery = await startGallery({ dataDir, key })
  assert.equal((await gallery.value('svc.identify', imageParams('Ann'))).matched, true)
  const found = await gallery.withKey(otherKey).value('svc.identify', imageParams('Bea'))
  assert.equal(found.matched, true)
})

test('A prepared rotation without a prepared key is refused, and changes nothing', async () => {
  await using folder = await createFolder()
  await using gallery = await startGallery({ dataDir: folder.dataDir })
  await gallery.value('svc.enroll', imageParams('Ann'))
  const key = await readFile(folder.file, 'utf8')
  const rotation = runJson(folder.dataDir, keyCommands, 'rotate-master --prepared')
  await assert.rejects(rotation, /has no prepared key.*run facegate key add-master/su)
  assert.equal(await readFile(folder.file, 'utf8'), key)
})

test(
  'A new master key is not added while a rotation replaces the file',
  { skip: !isOnPostgres() && 'SQLite has one writer' },
  async () => {
    await using folder = await createFolder()
    const { dataDir, file } = folder
    await using gallery = await startGallery({ dataDir })
    await gallery.value('svc.enroll', imageParams('Ann'))
    const key = await readFile(file, 'utf8')
    const { store } = gallery.database
    const state = { hasEnded: false }
    const adding = await store.write(async (tx) => {
      await tx.lock(masterKeyLock, 'exclusive')
      const added = runJson(dataDir, keyCommands, 'add-master')
      void added.finally(() => (state.hasEnded = true)).catch(() => undefined)
      const waiting = sql<{
        count: number
      }>`select count(*) as count from pg_locks where not granted`
      for (let count = 0; count === 0 && !state.hasEnded;)
        count = (await waiting.execute(store.db)).rows[0]?.count ?? 0
      assert.equal(await readFile(file, 'utf8'), key)
      return { added }
    })
    await adding.added
    assert.equal((await readFile(file, 'utf8')).trim().split('\n').length, 2)
  },
)

test('After a key rotation, a token of a liveness session still works and its reference frame can be read', async () => {
  await using folder = await createFolder()
  const { dataDir, file } = folder
  const origin = 'https://app.example.org'
  const send = (session: TokenHolder) =>
    fetch(`${session.url}/v1/liveness/sessions/${session.sessionId}/frames`, {
      method: 'POST',
      headers: { origin, 'content-type': 'application/json', 'x-session-token': session.token },
      body: JSON.stringify({
        action: 'svc.liveness',
        requestId: randomUUID(),
        params: { images: frameImages(framesOf(session.steps, {}, session.angles)) },
      }),
    })
  let key: string
  let livenessSessionId: string
  let open: Omit<TokenHolder, 'url'>
  {
    await using gallery = await startGallery({ dataDir })
    key = gallery.key
    const { store } = gallery.database
    const { projectId } = (await gallery.rest('GET', '/v1/me')).body.project
    await updateProject(store.db, projectId, { livenessOrigins: origin })
    livenessSessionId = await proveLiveness(gallery)
    const { body } = await gallery.rest('POST', '/v1/liveness/sessions', {})
    open = {
      sessionId: body.sessionId,
      token: body.sessionToken,
      steps: body.steps,
      angles: body.angles,
    }
    const before = await readFile(file, 'utf8')
    await runJson(dataDir, keyCommands, 'rotate-master')
    const written = await readFile(file, 'utf8')
    assert.notEqual(written, before)
    assert.equal(written.trim().split('\n').length, 1, 'the file contains the new key only')
  }
  await using gallery = await startGallery({ dataDir, key })
  await gallery.value('svc.enroll', { livenessSessionId })
  const response = await send({ ...open, url: gallery.url })
  assert.equal(response.status, 200)
  assert.equal(((await response.json()) as { state: string }).state, 'passed')
})

type TokenHolder = {
  readonly url: string
  readonly sessionId: string
  readonly token: string
  readonly steps: ChallengeStep[]
  readonly angles: AngleRange[]
}

test('key create-master writes a key that a server accepts, and never overwrites a file', async () => {
  await using folder = await createFolder()
  const { dataDir, file } = folder
  await runJson(dataDir, keyCommands, `create-master --to ${file}`)
  const written = await readFile(file, 'utf8')
  assert.equal((await stat(file)).mode & 0o777, 0o600)
  await assert.rejects(
    runJson(dataDir, keyCommands, `create-master --to ${file}`),
    /exists already/u,
  )
  await using gallery = await startGallery({ dataDir })
  await gallery.value('svc.enroll', imageParams('Ann'))
  assert.equal(await readFile(file, 'utf8'), written)
})

test('While the master key cannot be read, searches end with 503, and find everyone afterwards', async () => {
  await using gallery = await startGallery()
  const file = path.join(gallery.dataDir, 'master.key')
  await gallery.value('svc.enroll', imageParams('Ann'))
  // The subject is not in memory yet, and its key is wrapped with a key that the server has not read.
  await runJson(gallery.dataDir, keyCommands, 'rotate-master')
  await chmod(file, 0o644)
  for (const action of ['svc.identify', 'svc.enroll']) {
    const { status, body } = await gallery.call(action, imageParams('Ann'))
    assert.deepEqual([status, body], [503, { detail: 'The master key cannot be read.' }])
  }
  await chmod(file, 0o600)
  assert.equal((await gallery.value('svc.identify', imageParams('Ann'))).matched, true)
})

test('A rotation keeps the owner, the group and the mode of the key file, and follows a link', async () => {
  await using folder = await createFolder()
  await using disk = await createFolder()
  const { dataDir, file } = folder
  await runJson(dataDir, keyCommands, `create-master --to ${disk.file}`)
  await symlink(disk.file, file)
  const isRoot = process.getuid?.() === 0
  if (isRoot) await chown(disk.file, 0, 1000)
  await chmod(disk.file, isRoot ? 0o640 : 0o600)
  const { uid, gid, mode } = await stat(disk.file)
  await using gallery = await startGallery({ dataDir })
  await gallery.value('svc.enroll', imageParams('Ann'))
  const before = await readFile(disk.file, 'utf8')
  await runJson(dataDir, keyCommands, 'rotate-master')
  assert.ok((await lstat(file)).isSymbolicLink())
  assert.notEqual(await readFile(disk.file, 'utf8'), before)
  const after = await stat(disk.file)
  assert.deepEqual([after.uid, after.gid, after.mode], [uid, gid, mode])
  assert.equal((await gallery.value('svc.identify', imageParams('Ann'))).matched, true)
})

const onSqlite = { skip: isOnPostgres() && 'pg_dump reads the database before a rotation' }

test(
  'A rotation refuses a damaged SQLite database and keeps the key of the intact copies',
  onSqlite,
  async () => {
    await using folder = await createFolder()
    const { dataDir, file } = folder
    {
      await using gallery = await startGallery({ dataDir })
      await gallery.value('svc.enroll', imageParams('Ann'))
    }
    const key = await readFile(file, 'utf8')
    const databaseFile = path.join(dataDir, 'facegate.db')
    const database = new DatabaseSync(databaseFile)
    const page = database
      .prepare(
        "select rootpage, page_size as size from sqlite_schema, pragma_page_size where name = 'templates'",
      )
      .get()
    database.close()
    const size = Number(page?.['size'])
    {
      await using handle = await open(databaseFile, 'r+')
      await handle.write(Buffer.alloc(size, 0xff), 0, size, (Number(page?.['rootpage']) - 1) * size)
    }
    await assert.rejects(
      runJson(dataDir, keyCommands, 'rotate-master'),
      /the database is damaged: .*; the master key was not changed: restore an intact copy/su,
    )
    assert.equal(await readFile(file, 'utf8'), key)
  },
)

test('A folder in the place of the master key file is refused with the setting to change', async () => {
  await using folder = await createFolder()
  const { dataDir, file } = folder
  await mkdir(file, { mode: 0o755 })
  const refusal = { message: `the master key ${file} is a folder; set MASTER_KEY_FILE to a file` }
  await assert.rejects(runJson(dataDir, keyCommands, 'add-master'), refusal)
  await assert.rejects(startGallery({ dataDir }), refusal)
})

test('The group may read a master key file of root, as with mounted secrets; other users may not', async (t) => {
  if (process.getuid?.() !== 0) return t.skip('only root can change the owner of a file to root')
  await using folder = await createFolder()
  const { dataDir, file } = folder
  await runJson(dataDir, keyCommands, `create-master --to ${file}`)
  await chmod(file, 0o440)
  assert.ok(openKeyring(file))
  for (const mode of [0o460, 0o444, 0o450]) {
    await chmod(file, mode)
    assert.throws(() => openKeyring(file), /others may read/u)
  }
  await chown(file, 1000, 1000)
  await chmod(file, 0o440)
  assert.throws(() => openKeyring(file), /others may read/u, 'the file does not belong to root')
})
