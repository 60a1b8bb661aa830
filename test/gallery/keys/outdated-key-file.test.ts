import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { appendFile, copyFile, mkdtemp, readFile, rename, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { test } from 'node:test'
import { backup, restore } from '../../../src/cli/database/commands.ts'
import { keyCommands } from '../../../src/cli/tenancy/commands.ts'
import { createMasterKeyFile } from '../../../src/gallery/keys/master-key-file.ts'
import { createLog } from '../../../src/lib/log.ts'
import { storeCurrentMasterKeyId } from '../../../src/store/gallery/galleries.ts'
import { runJson } from '../../support/cli/run-json.ts'
import { runWithKeyFile } from '../../support/cli/run-with-key-file.ts'
import { isOnPostgres } from '../../support/database/engine.ts'
import { createFolders, deleteDatabaseFiles } from '../../support/gallery/database-copy.ts'
import { imageParams, startGallery } from '../../support/gallery/test-gallery.ts'

test('A command with an outdated copy of the key file changes nothing', async () => {
  await using gallery = await startGallery()
  const { dataDir } = gallery
  const copy = path.join(dataDir, 'outdated.key')
  await copyFile(path.join(dataDir, 'master.key'), copy)
  await gallery.value('svc.enroll', imageParams('Ann'))
  await runJson(dataDir, keyCommands, 'rotate-master')
  const outdated = await readFile(copy, 'utf8')
  for (const line of ['rotate-master', 'rotate-master --prepared', 'add-master'])
    await assert.rejects(
      runWithKeyFile(dataDir, copy, line),
      /the master key \S+ is not in \S+outdated.key/u,
    )
  assert.equal(await readFile(copy, 'utf8'), outdated)
  await gallery.value('svc.enroll', imageParams('Bea'))
  await runJson(dataDir, keyCommands, 'rotate-master')
  assert.equal((await gallery.value('svc.identify', imageParams('Ann'))).matched, true)
})

test('A server with an outdated copy of the key file encrypts nothing with the destroyed key', async () => {
  await using gallery = await startGallery()
  const { dataDir } = gallery
  const file = path.join(dataDir, 'master.key')
  const newest = path.join(dataDir, 'newest.key')
  await copyFile(file, newest)
  await gallery.value('svc.enroll', imageParams('Ann'))
  await runWithKeyFile(dataDir, newest, 'rotate-master')
  const other = await gallery.createProjectClient({ galleryMode: 'isolated' })
  const { status, body } = await other.call('svc.enroll', imageParams('Bea'))
  assert.deepEqual([status, body], [503, { detail: 'The master key cannot be read.' }])
  await copyFile(newest, file)
  await other.value('svc.enroll', imageParams('Bea'))
  await runWithKeyFile(dataDir, newest, 'rotate-master')
  await copyFile(newest, file)
  assert.equal((await other.value('svc.identify', imageParams('Bea'))).matched, true)
})

for (const isShared of [true, false])
  test(`Two databases with ${isShared ? 'one master key' : 'two master keys'} are rotated to one new key`, async () => {
    await using first = await startGallery()
    const dataDir = await mkdtemp(path.join(tmpdir(), 'facegate-key-file-'))
    await using folder = new AsyncDisposableStack()
    folder.defer(() => rm(dataDir, { recursive: true }))
    const fileOf = (gallery: { readonly dataDir: string }) =>
      path.join(gallery.dataDir, 'master.key')
    if (isShared) await copyFile(fileOf(first), fileOf({ dataDir }))
    await using second = await startGallery({ dataDir })
    const galleries = [first, second]
    for (const { value } of galleries) await value('svc.enroll', imageParams('Ann'))
    const prepared = path.join(dataDir, 'new.key')
    await copyFile(fileOf(first), prepared)
    if (isShared) await runWithKeyFile(first.dataDir, prepared, 'add-master')
    else await appendFile(prepared, await readFile(fileOf(second)))
    const copies: string[] = []
    for (const gallery of galleries) await copyFile(prepared, fileOf(gallery))
    for (const gallery of galleries) {
      const copy = path.join(gallery.dataDir, 'own.key')
      await copyFile(prepared, copy)
      await runWithKeyFile(gallery.dataDir, copy, 'rotate-master --prepared')
      copies.push(await readFile(copy, 'utf8'))
    }
    assert.equal(copies[0], copies[1])
    for (const gallery of galleries) {
      await copyFile(path.join(first.dataDir, 'own.key'), fileOf(gallery))
      await gallery.value('svc.enroll', imageParams('Bea'))
      assert.equal((await gallery.value('svc.identify', imageParams('Ann'))).matched, true)
      await runJson(gallery.dataDir, keyCommands, 'rotate-master')
    }
  })

test('After a rotation that wrapped nothing and whose file is lost, the next one continues', async () => {
  await using gallery = await startGallery()
  await gallery.value('svc.enroll', imageParams('Ann'))
  await gallery.database.store.write((tx) => storeCurrentMasterKeyId(tx, randomUUID()))
  const other = await gallery.createProjectClient({ galleryMode: 'isolated' })
  assert.equal((await other.call('svc.enroll', imageParams('Bea'))).status, 503)
  await runJson(gallery.dataDir, keyCommands, 'rotate-master')
  await other.value('svc.enroll', imageParams('Bea'))
  assert.equal((await gallery.value('svc.identify', imageParams('Ann'))).matched, true)
})

test('A start with an outdated copy of the key file does not make its key the current one', async () => {
  const dataDir = await mkdtemp(path.join(tmpdir(), 'facegate-key-file-'))
  await using folder = new AsyncDisposableStack()
  folder.defer(() => rm(dataDir, { recursive: true }))
  const newest = path.join(dataDir, 'newest.key')
  {
    // Nothing is encrypted yet, so that every file decrypts everything.
    await using gallery = await startGallery({ dataDir })
    await copyFile(path.join(gallery.dataDir, 'master.key'), newest)
    await runWithKeyFile(dataDir, newest, 'rotate-master')
  }
  await using gallery = await startGallery({ dataDir })
  const client = await gallery.createProjectClient({ galleryMode: 'isolated' })
  assert.equal((await client.call('svc.enroll', imageParams('Ann'))).status, 503)
  const lacksCurrent = /master.key does not contain \S+, the current master key of the database/u
  await assert.rejects(runJson(dataDir, keyCommands, 'add-master'), lacksCurrent)
  await copyFile(newest, path.join(dataDir, 'master.key'))
  await client.value('svc.enroll', imageParams('Ann'))
})

test('A start without the key file of the first start creates none, and encrypts nothing with another', async () => {
  const dataDir = await mkdtemp(path.join(tmpdir(), 'facegate-key-file-'))
  await using folder = new AsyncDisposableStack()
  folder.defer(() => rm(dataDir, { recursive: true }))
  const [file, first] = [path.join(dataDir, 'master.key'), path.join(dataDir, 'first.key')]
  await (await startGallery({ dataDir }))[Symbol.asyncDispose]()
  await rename(file, first)
  await assert.rejects(startGallery({ dataDir }), /there is no master key in/u)
  createMasterKeyFile(file)
  const log = createLog('warn', { write: (line) => void lines.push(JSON.parse(line).msg) })
  const lines: string[] = []
  await using gallery = await startGallery({ dataDir, log })
  assert.deepEqual(lines, ['not ready: the file lacks the current master key of the database'])
  const client = await gallery.createProjectClient({ galleryMode: 'isolated' })
  assert.equal((await client.call('svc.enroll', imageParams('Ann'))).status, 503)
  await copyFile(first, file)
  await client.value('svc.enroll', imageParams('Ann'))
})

test(
  'A copy without encrypted data from before a rotation is used with the new key file',
  { skip: isOnPostgres() },
  async () => {
    await using folders = await createFolders()
    const { dataDir, copy } = folders
    let key: string
    {
      await using gallery = await startGallery({ dataDir })
      key = gallery.key
      await runJson(dataDir, keyCommands, 'rotate-master')
      await runJson(dataDir, backup, `--to ${copy}`)
      await runJson(dataDir, keyCommands, 'rotate-master')
    }
    await deleteDatabaseFiles(dataDir)
    await runJson(dataDir, restore, `--from ${copy} --deletions none`)
    await using gallery = await startGallery({ dataDir, key })
    await gallery.value('svc.enroll', imageParams('Ann'))
  },
)
