import assert from 'node:assert/strict'
import { appendFile, copyFile, mkdtemp, readFile, rm, stat, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { test } from 'node:test'
import { backup } from '../../src/cli/database/backup.ts'
import { deletions } from '../../src/cli/database/deletions.ts'
import { restore } from '../../src/cli/database/restore.ts'
import { exportDeletions } from '../../src/gallery/deletion/export-deletions.ts'
import { openKeyring } from '../../src/gallery/keys/keyring.ts'
import { replayDeletions } from '../../src/gallery/deletion/replay-deletions.ts'
import { rotateKeys } from '../../src/gallery/keys/rotate-keys.ts'
import { createSubjectKeys } from '../../src/gallery/keys/subject-keys.ts'
import { findSubject } from '../../src/store/gallery/subjects.ts'
import { openSqliteStore } from '../../src/store/sqlite/open-sqlite-store.ts'
import { runJson } from '../support/cli/run-json.ts'
import { imageParams, startGallery, type TestGallery } from '../support/gallery/test-gallery.ts'
import { assertLedgerAudit } from '../support/gate/test-gate.ts'

/** A folder for a service, and one for what is kept elsewhere. */
async function createFolders() {
  const dataDir = await mkdtemp(path.join(tmpdir(), 'facegate-restore-'))
  const elsewhere = await mkdtemp(path.join(tmpdir(), 'facegate-elsewhere-'))
  return {
    dataDir,
    copy: path.join(elsewhere, 'copy.db'),
    records: path.join(elsewhere, 'deletions.jsonl'),
    [Symbol.asyncDispose]: async () => {
      await rm(dataDir, { recursive: true })
      await rm(elsewhere, { recursive: true })
    },
  }
}

async function enroll(gallery: TestGallery, ...names: readonly string[]): Promise<string[]> {
  const ids: string[] = []
  for (const name of names) {
    const who = { ...imageParams(name), externalId: `id-${name}`, groups: ['all'] }
    ids.push((await gallery.value('svc.enroll', who)).subjectId)
  }
  return ids
}

async function isFound(gallery: TestGallery, name: string): Promise<boolean> {
  return (await gallery.value('svc.identify', imageParams(name))).matched
}

/** The database is lost; its folder and master key are not. */
async function deleteDatabaseFiles(dataDir: string): Promise<void> {
  for (const end of ['', '-wal', '-shm'])
    await rm(path.join(dataDir, `facegate.db${end}`), { force: true })
}

/** Every deletion record of the gallery, as the API tells it, the newest first. */
async function recordsOf(gallery: TestGallery): Promise<unknown[]> {
  return (await gallery.rest('GET', '/v1/deletions')).body.items
}

test('whoever was deleted since the copy is absent from the first answer on, and the records are those of then', async () => {
  await using place = await createFolders()
  const { dataDir, copy, records } = place
  let key: string
  let before: unknown[]
  {
    await using gallery = await startGallery({ dataDir })
    key = gallery.key
    const [early, late] = await enroll(gallery, 'Early', 'Late', 'Stays')
    await gallery.value('svc.deleteSubject', { subjectId: early })
    const copied = await runJson(dataDir, backup, `--to ${copy}`)
    assert.equal(copied.bytes, (await stat(copy)).size)
    assert.equal((await stat(copy)).mode & 0o077, 0, 'for its owner alone')
    await gallery.value('svc.deleteSubject', { subjectId: late })
    const [brief] = await enroll(gallery, 'Brief')
    await gallery.value('svc.deleteSubject', { subjectId: brief })
    const exported = await runJson(dataDir, deletions, `export --to ${records}`)
    assert.deepEqual(exported, { added: 3, records: 3 })
    before = await recordsOf(gallery)
  }
  await deleteDatabaseFiles(dataDir)
  const done = await runJson(dataDir, restore, `--from ${copy} --deletions ${records}`)
  assert.deepEqual(done, { records: 3, inserted: 2, deletedAgain: 1 })
  const bytes = await readFile(path.join(dataDir, 'facegate.db'))
  assert.ok(!bytes.includes('id-Late-'), 'no trace')
  await using gallery = await startGallery({ dataDir, key })
  assert.equal(await isFound(gallery, 'Late'), false)
  assert.equal(await isFound(gallery, 'Early'), false)
  assert.equal(await isFound(gallery, 'Brief'), false)
  assert.equal(await isFound(gallery, 'Stays'), true)
  assert.equal(
    await gallery.code('svc.verify', { ...imageParams('Late'), externalId: 'id-Late' }),
    'SUBJECT_NOT_FOUND',
  )
  assert.deepEqual(await recordsOf(gallery), before)
  await assertLedgerAudit(gallery)
  // The restored database is what the file goes on with.
  const [next] = await enroll(gallery, 'Next')
  await gallery.value('svc.deleteSubject', { subjectId: next })
  assert.deepEqual(await exportDeletions(gallery.database.store, records), { added: 1, records: 4 })
})

test('a copy that is put in place by hand is made right by a replay, once and again', async () => {
  await using place = await createFolders()
  const { dataDir, copy, records } = place
  let key: string
  {
    await using gallery = await startGallery({ dataDir })
    key = gallery.key
    await enroll(gallery, ...Array.from({ length: 120 }, (_, at) => `Person ${at}`))
    await runJson(dataDir, backup, `--to ${copy}`)
    await gallery.openedGallery.gallery.clear(await findGalleryId(gallery))
    await exportDeletions(gallery.database.store, records)
  }
  await deleteDatabaseFiles(dataDir)
  await copyFile(copy, path.join(dataDir, 'facegate.db'))
  const first = await runJson(dataDir, deletions, `replay --from ${records}`)
  assert.deepEqual(first, { records: 120, inserted: 120, deletedAgain: 120 })
  const again = await runJson(dataDir, deletions, `replay --from ${records}`)
  assert.deepEqual(again, { records: 120, inserted: 0, deletedAgain: 0 })
  await using gallery = await startGallery({ dataDir, key })
  assert.equal(await isFound(gallery, 'Person 7'), false)
  await assertLedgerAudit(gallery)
})

async function findGalleryId({ database: books }: TestGallery): Promise<string> {
  const [row] = await books.store.db.selectFrom('galleries').select('galleryId').execute()
  return row?.galleryId ?? ''
}

test('a copy that went its own way before the replay still loses whom it must, in a whole chain', async () => {
  await using place = await createFolders()
  const { dataDir, copy, records } = place
  let key: string
  let other: string
  {
    await using gallery = await startGallery({ dataDir })
    key = gallery.key
    const [gone, another = ''] = await enroll(gallery, 'Gone', 'Other')
    other = another
    await runJson(dataDir, backup, `--to ${copy}`)
    await gallery.value('svc.deleteSubject', { subjectId: gone })
    await exportDeletions(gallery.database.store, records)
  }
  await deleteDatabaseFiles(dataDir)
  await copyFile(copy, path.join(dataDir, 'facegate.db'))
  await using gallery = await startGallery({ dataDir, key })
  await gallery.value('svc.deleteSubject', { subjectId: other })
  const { store } = gallery.database
  assert.deepEqual(await replayDeletions(store, records), {
    records: 1,
    inserted: 1,
    deletedAgain: 1,
  })
  assert.equal(await isFound(gallery, 'Gone'), false, 'also beside a running server')
  await assertLedgerAudit(gallery)
  await gallery.value('svc.deleteSubject', await enrollNewSubject(gallery))
  await assert.rejects(exportDeletions(store, records), /begin a new file/u)
})

async function enrollNewSubject(gallery: TestGallery): Promise<object> {
  const [subjectId] = await enroll(gallery, 'Newcomer')
  return { subjectId }
}

test('a file of records is not believed where it was changed; a line cut off is written again', async () => {
  await using place = await createFolders()
  const { dataDir, records } = place
  await using gallery = await startGallery({ dataDir })
  const { store } = gallery.database
  const [a, b] = await enroll(gallery, 'A', 'B')
  await gallery.value('svc.deleteSubject', { subjectId: a })
  await exportDeletions(store, records)
  await appendFile(records, '{"deletionId":"cut')
  await gallery.value('svc.deleteSubject', { subjectId: b })
  assert.deepEqual(await exportDeletions(store, records), { added: 1, records: 2 })
  const whole = await readFile(records, 'utf8')
  assert.equal(whole.split('\n').length, 3)
  assert.deepEqual(await exportDeletions(store, records), { added: 0, records: 2 })

  await writeFile(records, whole.replace('id-A', 'id-X'))
  await assert.rejects(replayDeletions(store, records), /line 1 of .* does not follow/u)
  const [, second = ''] = whole.split('\n')
  await writeFile(records, `${second}\n`)
  await assert.rejects(replayDeletions(store, records), /line 1 of .* does not follow/u)
  await writeFile(records, 'nonsense\n')
  await assert.rejects(replayDeletions(store, records), /line 1 of .* is not a deletion record/u)
})

test('a restore takes nobody’s place, and no copy that the master key does not open', async () => {
  await using place = await createFolders()
  const { dataDir, copy } = place
  const file = path.join(dataDir, 'master.key')
  {
    await using gallery = await startGallery({ dataDir })
    await enroll(gallery, 'Ann')
    await runJson(dataDir, backup, `--to ${copy}`)
    await assert.rejects(runJson(dataDir, backup, `--to ${copy}`), /is there already/u)
    const inPlace = runJson(dataDir, restore, `--from ${copy} --deletions none`)
    await assert.rejects(inPlace, /move it away first/u)
    await rotateKeys({ store: gallery.database.store, masterKeyFile: file, nowMs: Date.now })
  }
  await deleteDatabaseFiles(dataDir)
  const restored = () => runJson(dataDir, restore, `--from ${copy} --deletions none`)
  await assert.rejects(restored(), /master key .* is not in/u)
  await assert.rejects(stat(path.join(dataDir, 'facegate.db')), /ENOENT/u, 'nothing is in place')
})

test('a template of a copy from before a rotation opens for nobody who holds the key of today', async () => {
  await using place = await createFolders()
  const { dataDir, copy } = place
  const file = path.join(dataDir, 'master.key')
  await using gallery = await startGallery({ dataDir })
  const [subjectId = ''] = await enroll(gallery, 'Ann')
  await runJson(dataDir, backup, `--to ${copy}`)
  const aside = path.join(dataDir, 'aside')
  const galleryId = await findGalleryId(gallery)
  const opens = async () => {
    const store = await openSqliteStore(aside, {})
    try {
      return await store.read(async (reading) => {
        const subject = await findSubject(reading, galleryId, { subjectId })
        assert.ok(subject)
        return createSubjectKeys(openKeyring(file), Date.now).unwrap(reading, subject)
      })
    } finally {
      await store.close()
    }
  }
  await (await openSqliteStore(aside, {})).close()
  await copyFile(copy, path.join(aside, 'facegate.db'))
  assert.equal((await opens()).length, 32)
  await gallery.value('svc.deleteSubject', { subjectId })
  assert.equal((await opens()).length, 32, 'a deletion alone does not reach an older copy')
  await rotateKeys({ store: gallery.database.store, masterKeyFile: file, nowMs: Date.now })
  await assert.rejects(opens(), /master key .* is not in/u)
})
