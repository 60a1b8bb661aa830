import assert from 'node:assert/strict'
import { test } from 'node:test'
import { project } from '../../src/cli/tenancy/commands.ts'
import { backup, deletions, restore } from '../../src/cli/database/commands.ts'
import { subjectCommands } from '../../src/cli/subject/commands.ts'
import { exportDeletions } from '../../src/gallery/deletion/deletions-file.ts'
import { createLog } from '../../src/lib/log.ts'
import { findProject } from '../../src/store/tenancy/projects.ts'
import { runJson } from '../support/cli/run-json.ts'
import { createFolders, deleteDatabaseFiles, enroll } from '../support/gallery/database-copy.ts'
import { fillGroup } from '../support/gallery/fill-subjects.ts'
import { imageParams, startGallery, type TestGallery } from '../support/gallery/test-gallery.ts'
import { visit } from '../support/gallery/visitors.ts'
import { assertLedgerAudit } from '../support/gate/test-gate.ts'

const people = ['Ana', 'Ben', 'Kim', 'Kit', 'Lee', 'Mo', 'Pia', 'Rex'] as const

async function namesIn(gallery: TestGallery): Promise<string[]> {
  const { items } = (await gallery.rest('GET', '/v1/subjects')).body
  return items.map(({ externalId }: { externalId: string }) => externalId.slice(3)).toSorted()
}

test('A restore deletes the faces of merged people only if these were deleted', async () => {
  await using folders = await createFolders()
  const { dataDir, copy, records } = folders
  let key: string
  {
    await using gallery = await startGallery({ dataDir })
    key = gallery.key
    await enroll(gallery, ...people)
    const [{ projectId }] = await runJson(dataDir, project, 'list')
    await runJson(dataDir, project, `set ${projectId} --unknown-people 30`)
    const visitors = [await visit(gallery, 'Vera'), await visit(gallery, 'Will')]
    await runJson(dataDir, backup, `--to ${copy}`)

    const run = (line: string) =>
      runJson(dataDir, subjectCommands, `${line} --project ${projectId}`)
    const merge = (source: string, target: string) => run(`merge id-${source} --into id-${target}`)
    const undo = async ({ mergeId }: { mergeId: string }) => run(`unmerge ${mergeId}`)
    const remove = async (name: string) => {
      const { items } = (await gallery.rest('GET', `/v1/subjects?externalId=id-${name}`)).body
      await gallery.value('svc.deleteSubject', { subjectId: items[0].subjectId })
    }
    await merge('Kit', 'Kim')
    await undo(await merge('Lee', 'Mo'))
    await merge('Ana', 'Ben')
    await remove('Ben')
    await undo(await merge('Pia', 'Rex'))
    await remove('Pia')
    for (const [index, visitorId] of visitors.entries()) {
      const body = { externalId: `id-Visitor ${index}` }
      const promoted = await gallery.rest('POST', `/v1/visitors/${visitorId}/promote`, body)
      assert.equal(promoted.status, 200, JSON.stringify(promoted.body))
    }
    await gallery.value('svc.deleteSubject', {
      subjectId: (await gallery.rest('GET', '/v1/subjects?externalId=id-Visitor%201')).body.items[0]
        .subjectId,
    })
    await assertLedgerAudit(gallery)
    await runJson(dataDir, deletions, `export --to ${records}`)
  }
  await deleteDatabaseFiles(dataDir)
  const done = await runJson(dataDir, restore, `--from ${copy} --deletions ${records}`)
  assert.deepEqual([done.records, done.inserted, done.violations], [9, 9, []])
  assert.equal(done.deletedAgain, 4, 'Ana, Ben, Pia and the second visitor')
  const again = await runJson(dataDir, deletions, `replay --from ${records}`)
  assert.deepEqual([again.inserted, again.deletedAgain], [0, 0])

  await using gallery = await startGallery({ dataDir, key })
  assert.deepEqual(await namesIn(gallery), ['Kim', 'Kit', 'Lee', 'Mo', 'Rex'])
  assert.equal((await gallery.rest('GET', '/v1/visitors')).body.items.length, 1)
  const [kit] = (await gallery.rest('GET', '/v1/subjects?externalId=id-Kit')).body.items
  await gallery.value('svc.deleteSubject', { subjectId: kit.subjectId })
  await assertLedgerAudit(gallery)
  assert.deepEqual(await exportDeletions(gallery.database.store, records), {
    added: 1,
    records: 10,
  })
})

test('A restore reports the merges of the copy that were undone before a deletion', async () => {
  await using folders = await createFolders()
  const { dataDir, copy, records } = folders
  let key: string
  let projectId: string
  let mergeId: string
  {
    await using gallery = await startGallery({ dataDir })
    key = gallery.key
    await enroll(gallery, 'Ida', 'Jon', 'Lee', 'Mo')
    ;[{ projectId }] = await runJson(dataDir, project, 'list')
    const run = (line: string) =>
      runJson(dataDir, subjectCommands, `${line} --project ${projectId}`)
    const kept = await run('merge id-Ida --into id-Jon')
    mergeId = (await run('merge id-Lee --into id-Mo')).mergeId
    await runJson(dataDir, backup, `--to ${copy}`)
    await run(`unmerge ${kept.mergeId}`)
    const { subjectId } = await run(`unmerge ${mergeId}`)
    await gallery.value('svc.deleteSubject', { subjectId })
    await runJson(dataDir, deletions, `export --to ${records}`)
  }
  await deleteDatabaseFiles(dataDir)
  const done = await runJson(dataDir, restore, `--from ${copy} --deletions ${records}`)
  assert.deepEqual([done.deletedAgain, done.undoneMerges], [0, [mergeId]])
  const replay = () => runJson(dataDir, deletions, `replay --from ${records}`)
  const again = await replay()
  assert.deepEqual([again.inserted, again.undoneMerges], [0, [mergeId]], 'also in a repetition')

  const lines: string[] = []
  const log = createLog('warn', { write: (line) => void lines.push(line) })
  const environment = { DELETIONS_FILE: records }
  await using gallery = await startGallery({ dataDir, key, log, environment })
  assert.match(
    lines.join(''),
    new RegExp(`"undoneMerges":\\["${mergeId}"\\].*facegate subject unmerge`),
  )
  const lee = async () => (await gallery.value('svc.identify', imageParams('Lee'))).matched
  assert.equal(await lee(), true, 'as the warning states')
  const unmerge = `unmerge ${mergeId} --project ${projectId}`
  const { subjectId } = await runJson(dataDir, subjectCommands, unmerge)
  await gallery.value('svc.deleteSubject', { subjectId })
  assert.equal(await lee(), false)
  assert.deepEqual(await namesIn(gallery), ['Jon', 'Mo'])
  assert.deepEqual((await replay()).undoneMerges, [])
  await assertLedgerAudit(gallery)
})

test('A restore reports no merge into a subject that a later record deletes', async () => {
  await using folders = await createFolders()
  const { dataDir, copy, records } = folders
  // More records than one query looks up are between the two deletions.
  const otherCount = 501
  {
    await using gallery = await startGallery({ dataDir })
    const [, target] = await enroll(gallery, 'Lee', 'Mo')
    const [{ projectId }] = await runJson(dataDir, project, 'list')
    const filled = await findProject(gallery.database.store.db, projectId)
    assert.ok(filled)
    await fillGroup(gallery, filled, otherCount)
    const run = (line: string) =>
      runJson(dataDir, subjectCommands, `${line} --project ${projectId}`)
    const { mergeId } = await run('merge id-Lee --into id-Mo')
    await runJson(dataDir, backup, `--to ${copy}`)
    const { subjectId } = await run(`unmerge ${mergeId}`)
    await gallery.value('svc.deleteSubject', { subjectId })
    const { body } = await gallery.rest('DELETE', '/v1/groups/members')
    assert.equal(body.deletedCount, otherCount, JSON.stringify(body))
    await gallery.value('svc.deleteSubject', { subjectId: target })
    await runJson(dataDir, deletions, `export --to ${records}`)
  }
  await deleteDatabaseFiles(dataDir)
  const done = await runJson(dataDir, restore, `--from ${copy} --deletions ${records}`)
  assert.deepEqual([done.deletedAgain, done.undoneMerges], [otherCount + 1, []])
})
