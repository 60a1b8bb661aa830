import assert from 'node:assert/strict'
import {
  appendFile,
  copyFile,
  open,
  readFile,
  readdir,
  stat,
  writeFile,
  type FileHandle,
} from 'node:fs/promises'
import path from 'node:path'
import { test } from 'node:test'
import { backup, deletions, restore } from '../../src/cli/database/commands.ts'
import { exportDeletions } from '../../src/gallery/deletion/deletions-file.ts'
import { createSubjectKeys, openKeyring } from '../../src/gallery/keys/keyring.ts'
import { replayDeletions } from '../../src/gallery/deletion/replay-deletions.ts'
import { rotateKeys } from '../../src/gallery/keys/rotate-keys.ts'
import { findSubject } from '../../src/store/gallery/subjects.ts'
import { openSqliteStore } from '../../src/store/sqlite/open-sqlite-store.ts'
import {
  createFolders,
  deleteDatabaseFiles,
  enroll,
  isFound,
} from '../support/gallery/database-copy.ts'
import { addPage, countPages } from '../support/bulk/gallery-pages.ts'
import { signDeletion } from '../support/database/sign-deletion.ts'
import { runJson, runLines } from '../support/cli/run-json.ts'
import { imageParams, startGallery, type TestGallery } from '../support/gallery/test-gallery.ts'
import { assertLedgerAudit } from '../support/gate/test-gate.ts'

/** Returns all deletion records of the gallery from the API, the newest first. */
async function recordsOf(gallery: TestGallery): Promise<unknown[]> {
  return (await gallery.rest('GET', '/v1/deletions')).body.items
}

test('A restore deletes subjects again that were deleted after the backup, and keeps their records', async () => {
  await using folders = await createFolders()
  const { dataDir, copy, records } = folders
  const certificate = `${copy}.certificate.json`
  let key: string
  let before: unknown[]
  {
    await using gallery = await startGallery({ dataDir })
    key = gallery.key
    const [early, late] = await enroll(gallery, 'Early', 'Late', 'Stays')
    const deleted = await gallery.value('svc.deleteSubject', { subjectId: early })
    const { store } = gallery.database
    const { deletionId, tenantId: accountId } = deleted
    await signDeletion(certificate, { store, dataDir, deletionId, accountId })
    const copied = await runJson(dataDir, backup, `--to ${copy}`)
    assert.equal(copied.bytes, (await stat(copy)).size)
    assert.equal((await stat(copy)).mode & 0o077, 0, 'only the owner may read it')
    await gallery.value('svc.deleteSubject', { subjectId: late })
    const [brief] = await enroll(gallery, 'Brief')
    await gallery.value('svc.deleteSubject', { subjectId: brief })
    const exported = await runJson(dataDir, deletions, `export --to ${records}`)
    assert.deepEqual(exported, { added: 3, records: 3 })
    before = await recordsOf(gallery)
  }
  await deleteDatabaseFiles(dataDir)
  const done = await runJson(dataDir, restore, `--from ${copy} --deletions ${records}`)
  assert.deepEqual(done, {
    records: 3,
    skipped: 0,
    inserted: 2,
    deletedAgain: 1,
    undoneMerges: [],
    incompleteBytes: 0,
    violations: [],
  })
  assert.ok((await runJson(dataDir, deletions, `verify ${certificate}`)).isInLedger)
  const bytes = await readFile(path.join(dataDir, 'facegate.db'))
  assert.ok(!bytes.includes('id-Late-'), 'the file contains nothing of the subject')
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
  // The export file continues with the restored database.
  const [next] = await enroll(gallery, 'Next')
  await gallery.value('svc.deleteSubject', { subjectId: next })
  assert.deepEqual(await exportDeletions(gallery.database.store, records), { added: 1, records: 4 })
})

test('A replay of deletion records corrects a copied database, and can be repeated', async () => {
  await using folders = await createFolders()
  const { dataDir, copy, records } = folders
  let key: string
  {
    await using gallery = await startGallery({ dataDir })
    key = gallery.key
    await enroll(gallery, ...Array.from({ length: 120 }, (_, index) => `Person ${index}`))
    const galleryId = await findGalleryId(gallery)
    const { store } = gallery.database
    await addPage(store, galleryId)
    await runJson(dataDir, backup, `--to ${copy}`)
    await gallery.openedGallery.maintenance.clear(galleryId)
    assert.equal(await countPages(store, galleryId), 0)
    await exportDeletions(gallery.database.store, records)
  }
  await deleteDatabaseFiles(dataDir)
  await copyFile(copy, path.join(dataDir, 'facegate.db'))
  const first = await runJson(dataDir, deletions, `replay --from ${records}`)
  assert.deepEqual(first, {
    records: 120,
    skipped: 0,
    inserted: 120,
    deletedAgain: 120,
    undoneMerges: [],
    incompleteBytes: 0,
  })
  const second = await runJson(dataDir, deletions, `replay --from ${records}`)
  assert.deepEqual(second, { ...first, inserted: 0, deletedAgain: 0 })
  await using gallery = await startGallery({ dataDir, key })
  assert.equal(await isFound(gallery, 'Person 7'), false)
  const { store } = gallery.database
  assert.equal(await countPages(store, await findGalleryId(gallery)), 0, 'of the copy, too')
  await assertLedgerAudit(gallery)
})

async function findGalleryId({ database }: TestGallery): Promise<string> {
  const [row] = await database.store.db.selectFrom('galleries').select('galleryId').execute()
  return row?.galleryId ?? ''
}

test('A replay into a copy that was used meanwhile deletes the subjects and keeps its chain valid', async () => {
  await using folders = await createFolders()
  const { dataDir, copy, records } = folders
  let key: string
  let other: string
  {
    await using gallery = await startGallery({ dataDir })
    key = gallery.key
    const [deleted, kept = ''] = await enroll(gallery, 'Deleted', 'Other')
    other = kept
    await runJson(dataDir, backup, `--to ${copy}`)
    await gallery.value('svc.deleteSubject', { subjectId: deleted })
    await exportDeletions(gallery.database.store, records)
  }
  await deleteDatabaseFiles(dataDir)
  await copyFile(copy, path.join(dataDir, 'facegate.db'))
  await using gallery = await startGallery({ dataDir, key })
  await gallery.value('svc.deleteSubject', { subjectId: other })
  const { store } = gallery.database
  await assert.rejects(exportDeletions(store, records), /deletions replay --from/u)
  assert.deepEqual(await replayDeletions(store, records), {
    records: 1,
    skipped: 0,
    inserted: 1,
    deletedAgain: 1,
    undoneMerges: [],
    incompleteBytes: 0,
  })
  assert.equal(await isFound(gallery, 'Deleted'), false, 'also while a server runs')
  await assertLedgerAudit(gallery)
  // The last record of the file is the last one of the database, but not the only one.
  await assert.rejects(exportDeletions(store, records), /start a new file/u)
  assert.deepEqual(await exportDeletions(store, `${records}.2`), { added: 2, records: 2 })
})

test('A modified file of deletion records is rejected, and an incomplete last line is written again', async () => {
  await using folders = await createFolders()
  const { dataDir, records } = folders
  await using gallery = await startGallery({ dataDir })
  const { store } = gallery.database
  const [a, b] = await enroll(gallery, 'A', 'B')
  await gallery.value('svc.deleteSubject', { subjectId: a })
  await exportDeletions(store, records)
  await appendFile(records, '{"deletionId":"incomplete')
  const { incompleteBytes } = await replayDeletions(store, records)
  assert.equal(incompleteBytes, '{"deletionId":"incomplete'.length)
  const [printed] = await runLines(dataDir, deletions, `replay --from ${records}`)
  assert.match(
    printed ?? '',
    /; the last line of the file is incomplete \(\d+ bytes\) and was ignored/u,
  )
  await gallery.value('svc.deleteSubject', { subjectId: b })
  assert.deepEqual(await exportDeletions(store, records), { added: 1, records: 2 })
  const content = await readFile(records, 'utf8')
  assert.equal(content.split('\n').length, 3)
  assert.deepEqual(await exportDeletions(store, records), { added: 0, records: 2 })

  await writeFile(records, content.replace('id-A', 'id-X'))
  await assert.rejects(replayDeletions(store, records), /line 1 of .* does not follow/u)
  const [, second = ''] = content.split('\n')
  await writeFile(records, `${second}\n`)
  await assert.rejects(replayDeletions(store, records), /line 1 of .* does not follow/u)
  await writeFile(records, 'nonsense\n')
  await assert.rejects(replayDeletions(store, records), /line 1 of .* is not a deletion record/u)
})

test('An export and a restore refuse a file without records, and do not change it', async () => {
  await using folders = await createFolders()
  const { dataDir, records } = folders
  await using gallery = await startGallery({ dataDir })
  const { store } = gallery.database
  const [subjectId] = await enroll(gallery, 'A')
  await gallery.value('svc.deleteSubject', { subjectId })
  const ofOtherFiles = ['{"keys":[]}', 'SQLite format 3\0', '\0'.repeat(100), '{"deletionId":1}']
  const tooLong = `{"deletionId":"${'a'.repeat(2 ** 20)}`
  for (const text of [...ofOtherFiles, tooLong]) {
    await writeFile(records, text)
    const refusal = /^Error: the end of .*name the file of the records, or a new one$/u
    await assert.rejects(exportDeletions(store, records), refusal)
    await assert.rejects(replayDeletions(store, records), refusal)
    assert.equal(await readFile(records, 'utf8'), text)
  }
})

test('An export is complete when the disk stores only a part of a write', async (t) => {
  await using folders = await createFolders()
  const { dataDir, records } = folders
  await using gallery = await startGallery({ dataDir })
  const { store } = gallery.database
  for (const subjectId of await enroll(gallery, 'Ada', 'Ben', 'Cleo'))
    await gallery.value('svc.deleteSubject', { subjectId })
  {
    await using handle = await open(records, 'a')
    const files: FileHandle = Object.getPrototypeOf(handle)
    const write = Reflect.get(files, 'write')
    type Write = (bytes: Buffer, options: { readonly position: number }) => unknown
    const writePart: Write = function writePart(this: FileHandle, bytes, options) {
      return Reflect.apply(write, this, [bytes.subarray(0, 100), options])
    }
    t.mock.method(files, 'write', writePart)
    assert.deepEqual(await exportDeletions(store, records), { added: 3, records: 3 })
    t.mock.restoreAll()
  }
  assert.equal((await readFile(records, 'utf8')).split('\n').length, 4)
  assert.deepEqual(await exportDeletions(store, records), { added: 0, records: 3 })
})

test('A restore rejects a folder with a database, and a copy that the master key cannot decrypt', async () => {
  await using folders = await createFolders()
  const { dataDir, copy } = folders
  const file = path.join(dataDir, 'master.key')
  {
    await using gallery = await startGallery({ dataDir })
    await enroll(gallery, 'Ann')
    await runJson(dataDir, backup, `--to ${copy}`)
    await assert.rejects(runJson(dataDir, backup, `--to ${copy}`), /exists already/u)
    const overExisting = runJson(dataDir, restore, `--from ${copy} --deletions none`)
    await assert.rejects(overExisting, /move them away first/u)
    await rotateKeys({ store: gallery.database.store, masterKeyFile: file, nowMs: Date.now })
  }
  await deleteDatabaseFiles(dataDir)
  const before = await readdir(dataDir)
  const restored = () => runJson(dataDir, restore, `--from ${copy} --deletions none`)
  await assert.rejects(restored(), /master key .* is not in/u)
  assert.deepEqual(await readdir(dataDir), before, 'nothing is left')
})

test('After a key rotation, templates of an older copy cannot be decrypted', async () => {
  await using folders = await createFolders()
  const { dataDir, copy } = folders
  const file = path.join(dataDir, 'master.key')
  await using gallery = await startGallery({ dataDir })
  const [subjectId = ''] = await enroll(gallery, 'Ann')
  await runJson(dataDir, backup, `--to ${copy}`)
  const copyDir = path.join(dataDir, 'copy')
  const galleryId = await findGalleryId(gallery)
  const decryptSubjectKey = async () => {
    const store = await openSqliteStore(copyDir, {})
    try {
      return await store.read(async (tx) => {
        const subject = await findSubject(tx, galleryId, { subjectId })
        assert.ok(subject)
        return createSubjectKeys(openKeyring(file), Date.now).unwrap(tx, subject)
      })
    } finally {
      await store.close()
    }
  }
  await (await openSqliteStore(copyDir, {})).close()
  await copyFile(copy, path.join(copyDir, 'facegate.db'))
  assert.equal((await decryptSubjectKey()).length, 32)
  await gallery.value('svc.deleteSubject', { subjectId })
  const afterDeletion = await decryptSubjectKey()
  assert.equal(afterDeletion.length, 32, 'a deletion alone does not affect an older copy')
  await rotateKeys({ store: gallery.database.store, masterKeyFile: file, nowMs: Date.now })
  await assert.rejects(decryptSubjectKey(), ({ cause }: Error) =>
    /master key .* is not in/u.test(String(cause)),
  )
})
