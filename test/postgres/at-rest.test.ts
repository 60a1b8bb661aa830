import assert from 'node:assert/strict'
import { readdir, readFile } from 'node:fs/promises'
import path from 'node:path'
import { test } from 'node:test'
import { Client } from 'pg'
import { project } from '../../src/cli/project.ts'
import { rotateKeys } from '../../src/gallery/rotate.ts'
import { runJson } from '../command.ts'
import { images, startGallery } from '../gallery.ts'
import { picture, traces } from '../people.ts'
import { clusterMissing, startCluster } from '../postgres.ts'

const skip = clusterMissing ?? false
const names = Array.from({ length: 10 }, (_, at) => `Person ${at}`)

/** Every file of the server that holds data: tables, indexes and the write-ahead log. */
async function filesOf(adminUrl: string): Promise<readonly Buffer[]> {
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

test(
  'no template and no crop ever lies in the files of the server in the clear',
  { skip },
  async () => {
    await using cluster = await startCluster()
    await using database = await cluster.freshDatabase()
    const environment = { DATABASE_URL: database.url }
    await using gallery = await startGallery({ environment })
    await runJson(gallery.dataDir, project, 'set default --store-crops on', environment)
    const look = async (when: string): Promise<readonly Buffer[]> => {
      const files = await filesOf(cluster.adminUrl)
      const has = (bytes: Buffer): boolean => files.some((file) => file.includes(bytes))
      const exposed = names.filter((name) => {
        const { bytes } = picture(name)
        return [...traces(name), bytes, Buffer.from(bytes.toString('base64'))].some(has)
      })
      assert.deepEqual(exposed, [], when)
      return files
    }
    const subjectIds: string[] = []
    for (const name of names) {
      const params = { ...images(name), displayName: `${name} by name` }
      subjectIds.push((await gallery.value('svc.enroll', params)).subjectId)
    }
    const files = await look('enrolled')
    assert.ok(
      files.some((file) => file.includes('Person 3 by name')),
      'the scan finds what is there',
    )
    const { db } = gallery.books.store
    const sealed = await db.selectFrom('crops').select('sealed').execute()
    assert.equal(sealed.length, names.length)
    for (const subjectId of subjectIds) await gallery.value('svc.deleteSubject', { subjectId })
    await look('deleted')
    const masterKeyFile = path.join(gallery.dataDir, 'master.key')
    await rotateKeys({ store: gallery.books.store, masterKeyFile, nowMs: Date.now })
    await look('rotated')
  },
)
