import assert from 'node:assert/strict'
import {
  appendFile,
  copyFile,
  mkdir,
  mkdtemp,
  readFile,
  readdir,
  rename,
  rm,
  stat,
  writeFile,
} from 'node:fs/promises'
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
import { tamperWithSqlite } from '../support/database/tamper.ts'
import { runCli } from '../support/cli/run-cli.ts'
import { runJson } from '../support/cli/run-json.ts'
import { imageParams, startGallery, type TestGallery } from '../support/gallery/test-gallery.ts'
import { assertLedgerAudit } from '../support/gate/test-gate.ts'

/** Creates a data folder, and another folder for the backup and the deletion records. */
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
    const params = { ...imageParams(name), externalId: `id-${name}`, groups: ['all'] }
    ids.push((await gallery.value('svc.enroll', params)).subjectId)
  }
  return ids
}

async function isFound(gallery: TestGallery, name: string): Promise<boolean> {
  return (await gallery.value('svc.identify', imageParams(name))).matched
}

/** Deletes the database, but not its folder and the master key. */
async function deleteDatabaseFiles(dataDir: string): Promise<void> {
  for (const suffix of ['', '-wal', '-shm'])
    await rm(path.join(dataDir, `facegate.db${suffix}`), { force: true })
}

/** Returns all deletion records of the gallery from the API, the newest first. */
async function recordsOf(gallery: TestGallery): Promise<unknown[]> {
  return (await gallery.rest('GET', '/v1/deletions')).body.items
}

test('A restore deletes subjects again that were deleted after the backup, and keeps their records', async () => {
  await using folders = await createFolders()
  const { dataDir, copy, records } = folders
  let key: string
  let before: unknown[]
  {
    await using gallery = await startGallery({ dataDir })
    key = gallery.key
    const [early, late] = await enroll(gallery, 'Early', 'Late', 'Stays')
    await gallery.value('svc.deleteSubject', { subjectId: early })
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
  assert.deepEqual(done, { records: 3, inserted: 2, deletedAgain: 1, violations: [] })
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
    await runJson(dataDir, backup, `--to ${copy}`)
    await gallery.openedGallery.gallery.clear(await findGalleryId(gallery))
    await exportDeletions(gallery.database.store, records)
  }
  await deleteDatabaseFiles(dataDir)
  await copyFile(copy, path.join(dataDir, 'facegate.db'))
  const first = await runJson(dataDir, deletions, `replay --from ${records}`)
  assert.deepEqual(first, { records: 120, inserted: 120, deletedAgain: 120 })
  const second = await runJson(dataDir, deletions, `replay --from ${records}`)
  assert.deepEqual(second, { records: 120, inserted: 0, deletedAgain: 0 })
  await using gallery = await startGallery({ dataDir, key })
  assert.equal(await isFound(gallery, 'Person 7'), false)
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
  assert.deepEqual(await replayDeletions(store, records), {
    records: 1,
    inserted: 1,
    deletedAgain: 1,
  })
  assert.equal(await isFound(gallery, 'Deleted'), false, 'also while a server runs')
  await assertLedgerAudit(gallery)
  await gallery.value('svc.deleteSubject', await enrollNewSubject(gallery))
  await assert.rejects(exportDeletions(store, records), /start a new file/u)
})

async function enrollNewSubject(gallery: TestGallery): Promise<object> {
  const [subjectId] = await enroll(gallery, 'Newcomer')
  return { subjectId }
}

test('A modified file of deletion records is rejected, and an incomplete last line is written again', async () => {
  await using folders = await createFolders()
  const { dataDir, records } = folders
  await using gallery = await startGallery({ dataDir })
  const { store } = gallery.database
  const [a, b] = await enroll(gallery, 'A', 'B')
  await gallery.value('svc.deleteSubject', { subjectId: a })
  await exportDeletions(store, records)
  await appendFile(records, '{"deletionId":"incomplete')
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

test('A restore that fails leaves nothing behind, and the next one removes what a killed one left', async (t) => {
  await using folders = await createFolders()
  const { dataDir, copy, records } = folders
  const file = path.join(dataDir, 'master.key')
  {
    await using gallery = await startGallery({ dataDir })
    await enroll(gallery, 'Ann')
    await runJson(dataDir, backup, `--to ${copy}`)
  }
  const newDir = path.join(dataDir, 'new', 'data')
  process.env['MASTER_KEY_FILE'] = file
  t.after(() => delete process.env['MASTER_KEY_FILE'])
  const restoreTo = (options: string) => runJson(newDir, restore, options)
  await writeFile(records, 'nonsense\n')
  const failures = [
    [`--from ${copy} --deletions ${records}`, /line 1 of .* is not a deletion record/u],
    [`--from ${records} --deletions none`, /file is not a database/u],
    [`--from ${copy}.missing --deletions none`, /there is no copy .*\.missing/u],
  ] as const
  for (const [options, reason] of failures) {
    await assert.rejects(restoreTo(options), reason)
    await assert.rejects(stat(path.join(dataDir, 'new')), /ENOENT/u, 'nothing is left')
  }
  await mkdir(path.join(newDir, 'restoring'), { recursive: true })
  for (const name of ['facegate.db', 'facegate.db-wal'])
    await copyFile(copy, path.join(newDir, 'restoring', name))
  await restoreTo(`--from ${copy} --deletions none`)
  assert.deepEqual(
    (await readdir(newDir)).filter((name) => name.startsWith('facegate') || name === 'restoring'),
    ['facegate.db'],
  )
})

/** Copies a running service's files that SQLite keeps beside a database, as a crash leaves them. */
async function keepLogFiles(dataDir: string): Promise<void> {
  for (const suffix of ['-wal', '-shm']) {
    const file = path.join(dataDir, `facegate.db${suffix}`)
    await copyFile(file, `${file}.kept`)
  }
}

test('A restore beside the log files of an old database is refused, with the files to move', async () => {
  await using folders = await createFolders()
  const { dataDir, copy } = folders
  let key: string
  {
    await using gallery = await startGallery({ dataDir })
    key = gallery.key
    await enroll(gallery, 'Ann')
    await runJson(dataDir, backup, `--to ${copy}`)
    await enroll(gallery, 'Bob', 'Cid')
    await keepLogFiles(dataDir)
  }
  const target = path.join(dataDir, 'facegate.db')
  await deleteDatabaseFiles(dataDir)
  for (const suffix of ['-wal', '-shm']) await rename(`${target}${suffix}.kept`, target + suffix)
  const before = await readdir(dataDir)
  const run = () => runJson(dataDir, restore, `--from ${copy} --deletions none`)
  await assert.rejects(run(), (error: Error) => {
    assert.match(
      error.message,
      /facegate\.db-wal and .*facegate\.db-shm exist already: move them away/u,
    )
    return true
  })
  assert.deepEqual(await readdir(dataDir), before, 'nothing is added')
  await rename(`${target}-wal`, `${target}-wal.old`)
  await assert.rejects(run(), /facegate\.db-shm exists already: move it away first/u)
  await rename(`${target}-shm`, `${target}-shm.old`)
  await copyFile(`${target}-wal.old`, `${copy}-wal`)
  await assert.rejects(run(), /copy\.db-wal beside the copy may contain writes that it lacks/u)
  await rm(`${copy}-wal`)
  await run()
  await using gallery = await startGallery({ dataDir, key })
  assert.equal(await isFound(gallery, 'Ann'), true)
  assert.equal(await isFound(gallery, 'Bob'), false)
  await assertLedgerAudit(gallery)
})

test('A copy that violates rules of the ledger is restored, and each violation is printed', async () => {
  await using folders = await createFolders()
  const { dataDir, copy } = folders
  let key: string
  {
    await using gallery = await startGallery({ dataDir })
    key = gallery.key
    const [subjectId] = await enroll(gallery, 'Ann', 'Bob', 'Cid')
    await gallery.value('svc.deleteSubject', { subjectId })
    tamperWithSqlite(
      dataDir,
      `delete from deletions;
       delete from faces where subjectId = (select subjectId from subjects where externalId = 'id-Bob');
       update galleries set templateCount = 1`,
    )
    await runJson(dataDir, backup, `--to ${copy}`)
  }
  await deleteDatabaseFiles(dataDir)
  const { code, out, err } = await runCli(['restore', '--from', copy, '--deletions', 'none'], {
    DATA_DIR: dataDir,
    DATABASE_URL: '',
  })
  assert.equal(code, 0, err)
  assert.match(out, /^the copy is restored/u)
  assert.match(
    err,
    /^facegate: warning: the restored database violates L7: the deletion records of account \S+ are missing/mu,
  )
  assert.match(err, /^facegate: warning: .* violates L9: subject \S+ has no template$/mu)
  await using gallery = await startGallery({ dataDir, key })
  assert.equal(await isFound(gallery, 'Cid'), true)
})

test('A database with a subject without faces is restored without a warning', async () => {
  await using folders = await createFolders()
  const { dataDir, copy } = folders
  {
    await using gallery = await startGallery({ dataDir, environment: { COMPREFACE_API: 'on' } })
    const response = await fetch(`${gallery.url}/api/v1/recognition/subjects`, {
      method: 'POST',
      headers: { 'x-api-key': gallery.key, 'content-type': 'application/json' },
      body: JSON.stringify({ subject: 'empty' }),
    })
    assert.equal(response.status, 201)
    await runJson(dataDir, backup, `--to ${copy}`)
  }
  await deleteDatabaseFiles(dataDir)
  const done = await runJson(dataDir, restore, `--from ${copy} --deletions none`)
  assert.deepEqual(done.violations, [])
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
  await assert.rejects(decryptSubjectKey(), /master key .* is not in/u)
})
