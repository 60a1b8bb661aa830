import assert from 'node:assert/strict'
import { chmod, chown, copyFile, mkdtemp, readFile, rename, rm, stat } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { test } from 'node:test'
import { masterKey } from '../../src/cli/database/master-key.ts'
import { openKeyring } from '../../src/gallery/keys/keyring.ts'
import { runJson } from '../support/cli/run-json.ts'
import { imageParams, startGallery } from '../support/gallery/test-gallery.ts'

/** A data folder, and in it the place of the master key. */
async function folder() {
  const dataDir = await mkdtemp(path.join(tmpdir(), 'facegate-master-key-'))
  return {
    dataDir,
    file: path.join(dataDir, 'master.key'),
    [Symbol.asyncDispose]: () => rm(dataDir, { recursive: true }),
  }
}

test('a rotation that was prepared on every server loses nobody, and what a server wraps beside it opens', async () => {
  await using place = await folder()
  const { dataDir, file } = place
  let key: string
  let other: string
  {
    await using gallery = await startGallery({ dataDir })
    key = gallery.key
    await gallery.value('svc.enroll', imageParams('Ann'))
    // The server has its own copy of the file, the one who rotates another.
    const mine = path.join(dataDir, 'mine.key')
    await copyFile(file, mine)
    process.env['MASTER_KEY_FILE'] = mine
    await runJson(dataDir, masterKey, 'add')
    await copyFile(mine, file)
    const rotated = await runJson(dataDir, masterKey, 'rotate --prepared')
    delete process.env['MASTER_KEY_FILE']
    assert.deepEqual(rotated, { galleries: 1, subjects: 1 })
    assert.equal((await readFile(mine, 'utf8')).trim().split('\n').length, 1)
    const joined = await gallery.createProjectClient({ galleryMode: 'isolated' })
    other = joined.key
    await joined.value('svc.enroll', imageParams('Bea'))
    await rename(mine, file)
    await joined.value('svc.enroll', imageParams('Cid'))
    // Without copies: the server wraps by the new key, although it has the old one in memory.
    await runJson(dataDir, masterKey, 'rotate')
    const third = await gallery.createProjectClient({ galleryMode: 'isolated' })
    await third.value('svc.enroll', imageParams('Dan'))
  }
  await using gallery = await startGallery({ dataDir, key })
  assert.equal((await gallery.value('svc.identify', imageParams('Ann'))).matched, true)
  const seen = await gallery.withKey(other).value('svc.identify', imageParams('Bea'))
  assert.equal(seen.matched, true)
})

test('keys create writes a key that a server accepts, and never replaces a file', async () => {
  await using place = await folder()
  const { dataDir, file } = place
  await runJson(dataDir, masterKey, `create --to ${file}`)
  const made = await readFile(file, 'utf8')
  assert.equal((await stat(file)).mode & 0o777, 0o600)
  await assert.rejects(runJson(dataDir, masterKey, `create --to ${file}`), /exists already/u)
  await using gallery = await startGallery({ dataDir })
  await gallery.value('svc.enroll', imageParams('Ann'))
  assert.equal(await readFile(file, 'utf8'), made)
})

test('a master key of root’s may be read by the group, as a mounted secret is; by all others never', async (t) => {
  if (process.getuid?.() !== 0) return t.skip('only root can give a file to root')
  await using place = await folder()
  const { dataDir, file } = place
  await runJson(dataDir, masterKey, `create --to ${file}`)
  await chmod(file, 0o440)
  assert.ok(openKeyring(file))
  for (const mode of [0o460, 0o444, 0o450]) {
    await chmod(file, mode)
    assert.throws(() => openKeyring(file), /others may read/u)
  }
  await chown(file, 1000, 1000)
  await chmod(file, 0o440)
  assert.throws(() => openKeyring(file), /others may read/u, 'another user of the group reads it')
})
