import assert from 'node:assert/strict'
import { readdir, readFile } from 'node:fs/promises'
import path from 'node:path'
import { test } from 'node:test'
import { Client } from 'pg'
import { project } from '../../src/cli/tenancy/commands.ts'
import { rotateKeys } from '../../src/gallery/keys/rotate-keys.ts'
import { runJson } from '../support/cli/run-json.ts'
import { imageParams, startGallery } from '../support/gallery/test-gallery.ts'
import { fakeImage, embeddingEncodings } from '../support/gallery/fake-vision.ts'
import { clusterSkipReason, startPostgresCluster } from '../support/database/postgres-server.ts'

const skip = clusterSkipReason ?? false
const names = Array.from({ length: 10 }, (_, index) => `Person ${index}`)

/** Reads all files of the server with data: tables, indexes and the write-ahead log. */
async function readServerFiles(adminUrl: string): Promise<readonly Buffer[]> {
  const client = new Client({ connectionString: adminUrl })
  await client.connect()
  await client.query('checkpoint')
  const { rows } = await client.query('show data_directory')
  await client.end()
  const files: Buffer[] = []
  for (const folder of ['base', 'pg_wal']) {
    const root = path.join(rows[0].data_directory, folder)
    for (const entry of await readdir(root, { recursive: true, withFileTypes: true }))
      if (entry.isFile()) files.push(await readFile(path.join(entry.parentPath, entry.name)))
  }
  return files
}

test('The server’s files never contain an unencrypted template or crop', { skip }, async () => {
  await using cluster = await startPostgresCluster()
  await using database = await cluster.createDatabase()
  const environment = { DATABASE_URL: database.url }
  await using gallery = await startGallery({ environment })
  await runJson(gallery.dataDir, project, 'set default --store-crops on', environment)
  const assertEncrypted = async (step: string): Promise<readonly Buffer[]> => {
    const files = await readServerFiles(cluster.adminUrl)
    const has = (bytes: Buffer): boolean => files.some((file) => file.includes(bytes))
    const exposed = names.filter((name) => {
      const { bytes } = fakeImage(name)
      return [...embeddingEncodings(name), bytes, Buffer.from(bytes.toString('base64'))].some(has)
    })
    assert.deepEqual(exposed, [], step)
    return files
  }
  const subjectIds: string[] = []
  for (const name of names) {
    const params = { ...imageParams(name), displayName: `${name} by name` }
    subjectIds.push((await gallery.value('svc.enroll', params)).subjectId)
  }
  const files = await assertEncrypted('after enrollment')
  assert.ok(
    files.some((file) => file.includes('Person 3 by name')),
    'the scan finds unencrypted text',
  )
  const { db } = gallery.database.store
  const crops = await db.selectFrom('crops').select('ciphertext').execute()
  assert.equal(crops.length, names.length)
  for (const subjectId of subjectIds) await gallery.value('svc.deleteSubject', { subjectId })
  await assertEncrypted('after deletion')
  const masterKeyFile = path.join(gallery.dataDir, 'master.key')
  await rotateKeys({ store: gallery.database.store, masterKeyFile, nowMs: Date.now })
  await assertEncrypted('after key rotation')
})
