import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { copyFile, mkdir, readdir, readFile, rename, rm, stat, writeFile } from 'node:fs/promises'
import path from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { test } from 'node:test'
import { backup, restore } from '../../src/cli/database/commands.ts'
import { deniedMountReason } from '../support/packaging/image.ts'
import { rootDir } from '../support/paths.ts'
import { runCli } from '../support/cli/run-cli.ts'
import { runJson } from '../support/cli/run-json.ts'
import { tamperWithSqlite } from '../support/database/tamper.ts'
import {
  createFolders,
  deleteDatabaseFiles,
  enroll,
  isFound,
} from '../support/gallery/database-copy.ts'
import { startGallery } from '../support/gallery/test-gallery.ts'
import { assertLedgerAudit } from '../support/gate/test-gate.ts'

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
  await writeFile(`${copy}.empty`, '')
  const failures = [
    [`--from ${copy} --deletions ${records}`, /line 1 of .* is not a deletion record/u],
    [`--from ${records} --deletions none`, /file is not a database/u],
    [`--from ${copy}.missing --deletions none`, /there is no copy .*\.missing/u],
    [`--from ${copy}.empty --deletions none`, /copy\S*\.empty is empty; name an intact copy$/u],
    [`--from /dev/null --deletions none`, /\/dev\/null is not a file/u],
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

/** Runs a command of the project in a namespace with a disk of 64 KiB at `folder`. */
function runOnSmallDisk(folder: string, args: readonly string[], environment: object): string {
  const script = 'mount -t tmpfs -o size=64k none "$0" && exec "$@"'
  const command = [process.execPath, path.join(rootDir, 'src/cli/main.ts'), ...args]
  const { stderr } = spawnSync('unshare', ['--mount', 'sh', '-c', script, folder, ...command], {
    env: { ...process.env, DATABASE_URL: '', ...environment },
    encoding: 'utf8',
  })
  return stderr
}

test(
  'A backup or a restore on a full disk names its target',
  { skip: deniedMountReason() },
  async () => {
    await using folders = await createFolders()
    const { dataDir, copy } = folders
    const file = path.join(dataDir, 'master.key')
    await (await startGallery({ dataDir }))[Symbol.asyncDispose]()
    await runJson(dataDir, backup, `--to ${copy}`)
    const disk = path.join(dataDir, 'disk')
    await mkdir(disk)
    const full = 'the disk is full; free space on it\n'
    const target = path.join(disk, 'copy.db')
    const environment = { DATA_DIR: dataDir, MASTER_KEY_FILE: file }
    const failure = runOnSmallDisk(disk, ['backup', '--to', target], environment)
    assert.equal(failure, `facegate: ${target} cannot be created: ${full}`)
    const restored = path.join(disk, 'restoring', 'facegate.db')
    const args = ['restore', '--from', copy, '--deletions', 'none']
    const refused = runOnSmallDisk(disk, args, { ...environment, DATA_DIR: disk })
    assert.equal(refused, `facegate: ${restored} cannot be written: ${full}`)
  },
)

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

test('A damaged or incomplete copy and a deletions file without a complete line are not restored', async () => {
  await using folders = await createFolders()
  const { dataDir, copy, records } = folders
  {
    await using gallery = await startGallery({ dataDir })
    await enroll(gallery, 'Ann')
    await runJson(dataDir, backup, `--to ${copy}`)
  }
  await deleteDatabaseFiles(dataDir)
  const before = await readdir(dataDir)
  const intact = await readFile(copy)
  const pageBytes = intact.readUInt16BE(16)
  const copyWith = async (change: (bytes: Buffer) => Buffer, deletions = 'none') => {
    await writeFile(copy, change(Buffer.from(intact)))
    return runJson(dataDir, restore, `--from ${copy} --deletions ${deletions}`)
  }
  const pages = rootPages(copy)
  assert.ok(pages.length > 30)
  for (const page of pages) {
    const clear = (bytes: Buffer) => bytes.fill(0, (page - 1) * pageBytes, page * pageBytes)
    await assert.rejects(copyWith(clear), /copy\.db cannot be restored: .*damaged/u, String(page))
  }
  for (const missing of [1, pageBytes - 1, pageBytes, 10 * pageBytes])
    await assert.rejects(
      copyWith((bytes) => bytes.subarray(0, -missing)),
      /copy\.db cannot be restored: .*damaged/u,
      String(missing),
    )
  await writeFile(records, '{"deletionId":"1')
  await assert.rejects(
    copyWith((bytes) => bytes, records),
    /deletions\.jsonl has no complete line: it was not copied or exported completely/u,
  )
  assert.deepEqual(await readdir(dataDir), before, 'nothing is left')
  await writeFile(records, '')
  await copyWith((bytes) => bytes, records)
})

/** Returns the first page of each table. */
function rootPages(file: string): readonly number[] {
  using database = new DatabaseSync(file, { readOnly: true })
  const rows = database.prepare(`select rootpage from sqlite_schema where type = 'table'`).all()
  return rows.map(({ rootpage }) => Number(rootpage)).filter((page) => page > 0)
}
