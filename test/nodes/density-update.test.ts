import assert from 'node:assert/strict'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { createLog } from '../../src/lib/log.ts'
import { createMigratedDatabase } from '../support/database/engine.ts'
import { postgresSkipReason } from '../support/database/postgres-server.ts'
import {
  countVersions,
  earlierCohort,
  enrollPeople,
  fillPeople,
  laterCohort,
  pictureOf,
  waitForUpdate,
} from '../support/gallery/density-people.ts'
import { imageParams, startGallery, type GalleryClient } from '../support/gallery/test-gallery.ts'

const names = ['Ada', 'Ben', 'Cid']
const fillCount = 300

async function identifiedNames(client: GalleryClient): Promise<unknown[]> {
  const found: unknown[] = []
  for (const name of [...names, 'Other 7']) {
    const { bestMatch } = await client.value('svc.identify', imageParams(pictureOf(name, 3)))
    found.push(bestMatch?.externalId)
  }
  return found
}

test(
  'Servers of a new version wait for the last old one, and then divide the update of densities',
  { skip: postgresSkipReason ?? false },
  async () => {
    const root = await mkdtemp(path.join(tmpdir(), 'facegate-nodes-'))
    await using database = await createMigratedDatabase()
    await using opened = new AsyncDisposableStack()
    const environment = {
      DATABASE_URL: database.url,
      MASTER_KEY_FILE: path.join(root, 'master.key'),
      SEARCH: 'memory',
    }
    const lines: string[] = []
    const log = createLog('info', { write: (line) => void lines.push(line) })
    const old = await startGallery({
      dataDir: path.join(root, 'old'),
      environment,
      models: earlierCohort,
      version: '1.0.0',
    })
    await enrollPeople(old, names)
    await fillPeople(old, 'Other', fillCount)
    const startNew = async (folder: string) =>
      opened.use(
        await startGallery({
          dataDir: path.join(root, folder),
          key: old.key,
          environment,
          models: laterCohort,
          version: '2.0.0',
          log,
        }),
      )
    const [a, b] = await Promise.all([startNew('a'), startNew('b')])
    const expected = [...names, 'Other 7']
    while (lines.filter((line) => line.includes('same version')).length < 2) await sleep(20)
    for (const server of [old, a, b]) assert.deepEqual(await identifiedNames(server), expected)
    const { store } = a.database
    const total = 2 * (names.length + fillCount)
    assert.deepEqual(await countVersions(store), [total, 0])

    await old[Symbol.asyncDispose]()
    await waitForUpdate(store)
    assert.deepEqual(await countVersions(store), [0, total])
    for (const server of [a, b]) assert.deepEqual(await identifiedNames(server), expected)
    const progress = [a, b].map((server) => server.openedGallery.gallery.densityProgress())
    assert.equal(
      progress.reduce((sum, { updated }) => sum + updated, 0),
      total,
      'each template was updated by one server',
    )
    await rm(root, { recursive: true, force: true })
  },
)
