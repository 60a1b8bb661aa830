import assert from 'node:assert/strict'
import { readFile } from 'node:fs/promises'
import path from 'node:path'
import { test } from 'node:test'
import { backup, deletions, restore } from '../../src/cli/database/commands.ts'
import { runJson } from '../support/cli/run-json.ts'
import { createFolders, deleteDatabaseFiles, enroll } from '../support/gallery/database-copy.ts'
import { imageParams, startGallery } from '../support/gallery/test-gallery.ts'

test('A restore deletes a subject again that many stored responses name', async () => {
  await using folders = await createFolders()
  const { dataDir, copy, records } = folders
  {
    await using gallery = await startGallery({ dataDir })
    const [late] = await enroll(gallery, 'Late')
    const responses = 101
    for (let count = 0; count < responses; count++)
      await gallery.value('svc.identify', imageParams('Late'))
    await runJson(dataDir, backup, `--to ${copy}`)
    await gallery.value('svc.deleteSubject', { subjectId: late })
    await runJson(dataDir, deletions, `export --to ${records}`)
  }
  await deleteDatabaseFiles(dataDir)
  const done = await runJson(dataDir, restore, `--from ${copy} --deletions ${records}`)
  assert.equal(done.deletedAgain, 1)
  const bytes = await readFile(path.join(dataDir, 'facegate.db'))
  assert.ok(!bytes.includes('id-Late-'), 'the file contains nothing of the subject')
})
