import assert from 'node:assert/strict'
import { copyFile, mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { test } from 'node:test'
import { createMigratedDatabase } from '../support/database/engine.ts'
import { imageParams, startGallery } from '../support/gallery/test-gallery.ts'
import { postgresSkipReason } from '../support/database/postgres-server.ts'

test(
  'A second server creates no master key and needs a copy of the first server’s key',
  { skip: postgresSkipReason ?? false },
  async () => {
    await using database = await createMigratedDatabase()
    const environment = { DATABASE_URL: database.url }
    const dataDir = await mkdtemp(path.join(tmpdir(), 'facegate-other-'))
    await using first = await startGallery({ environment })
    const { key } = first
    const startSecond = () => startGallery({ environment, dataDir, key })
    await assert.rejects(startSecond(), /there is no master key in .* have the same one/u)
    await copyFile(path.join(first.dataDir, 'master.key'), path.join(dataDir, 'master.key'))
    await using second = await startSecond()
    await second.value('svc.enroll', imageParams('Ann'))
    assert.equal((await first.value('svc.identify', imageParams('Ann'))).matched, true)
    await rm(dataDir, { recursive: true })
  },
)
