import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { after, before, test } from 'node:test'
import { visitorCommands } from '../../src/cli/subject/commands.ts'
import { project } from '../../src/cli/tenancy/commands.ts'
import { createLineRunner } from '../support/cli/run-json.ts'
import { assertOk, startConsole, type TestConsole } from '../support/console/test-console.ts'
import { createOwnedVisitorProject } from '../support/console/visitor-project.ts'
import { takeOf, visit } from '../support/gallery/visitors.ts'

let testConsole: TestConsole
before(async () => {
  testConsole = await startConsole()
})
after(() => testConsole[Symbol.asyncDispose]())

const dataDir = (): string => testConsole.gallery.dataDir
const { runForLines, runForJson } = createLineRunner([visitorCommands, project], dataDir)

/** Creates a project with visitors. @returns a function that adds the project to a command. */
async function createProject(switches?: object) {
  const { client } = await createOwnedVisitorProject(testConsole, switches)
  const { projectId } = client.project
  return {
    client,
    projectId,
    line: (command: string) => `visitor ${command} --project ${projectId}`,
  }
}

async function lastAuditEntry() {
  const { items } = assertOk(await testConsole.owner.get('/audit?limit=1')).body
  return items[0]
}

const idsOf = (rows: { visitorId: string }[]) => rows.map(({ visitorId }) => visitorId)

test('visitors are listed by time or pictures, shown, and ignored ones apart', async () => {
  const { client, line } = await createProject()
  const often = await visit(client, 'Val')
  await visit(client, 'Val', 1)
  const last = await visit(client, 'Vin')
  assert.deepEqual(idsOf(await runForJson(line('list'))), [last, often])
  assert.deepEqual(idsOf(await runForJson(line('list --sort visits --limit 1'))), [often])
  const shown = await runForJson(line(`show ${often.toUpperCase()}`))
  assert.deepEqual([shown.visitorId, shown.visitCount, shown.ignored], [often, 2, false])
  assert.match((await runForLines(line(`show ${often}`))).join('\n'), /visitCount +2/u)
  await assert.rejects(runForLines(line(`show ${randomUUID()}`)), /no visitor with this visitorId/u)
  await runForJson(line(`ignore ${last}`))
  const { auditAction, target, detail } = await lastAuditEntry()
  assert.deepEqual([auditAction, target, detail.ignored], ['visitor.ignore', last, true])
  assert.deepEqual(idsOf(await runForJson(line('list'))), [often])
  assert.deepEqual(idsOf(await runForJson(line('list --ignored true'))), [last])
  assert.equal((await runForJson(line(`ignore ${last} --undo`))).ignored, false)
  assert.equal((await runForJson(line('list --ignored all'))).length, 2)
  const other = await createProject()
  assert.deepEqual(await runForJson(other.line('list --ignored all')), [])
  await assert.rejects(runForLines(other.line(`show ${often}`)), /no visitor/u)
})

test('a visitor is enrolled with its pictures, and another one is merged into the subject', async () => {
  const { client, projectId, line } = await createProject({ storeCrops: true })
  const [first, second] = [await visit(client, 'Zoe'), await visit(client, 'Max')]
  const options = '--external-id v-1 --name Zoe --groups guests,staff'
  await assert.rejects(runForLines(line(`promote ${first} --groups a!`)), /groups/u)
  const subject = await runForJson(line(`promote ${first} ${options}`))
  assert.deepEqual(
    [subject.externalId, subject.displayName, subject.groups],
    ['v-1', 'Zoe', ['guests', 'staff']],
  )
  const { subjectId } = subject
  const promoted = await lastAuditEntry()
  assert.deepEqual([promoted.auditAction, promoted.target], ['visitor.promote', first])
  assert.deepEqual([promoted.detail.subjectId, promoted.detail.projectId], [subjectId, projectId])
  await assert.rejects(runForLines(line(`promote ${first}`)), /no visitor/u)
  await assert.rejects(runForLines(line(`promote ${second} --external-id v-1`)), /externalId/u)
  await assert.rejects(runForLines(line(`merge ${second} --into absent`)), /no subject absent/u)
  const [text] = await runForLines(line(`merge ${second} --into v-1`))
  assert.equal(text, `merged ${second} into ${subjectId}, which has 2 templates`)
  const merged = await lastAuditEntry()
  assert.deepEqual([merged.auditAction, merged.target], ['visitor.merge', second])
  assert.deepEqual(await runForJson(line('list --ignored all')), [])
  for (const name of ['Zoe', 'Max'])
    assert.equal(
      (await client.value('svc.identify', takeOf(name, 5))).bestMatch.subjectId,
      subjectId,
    )
  const crops = await testConsole.owner.get(
    `/projects/${projectId}/cropped-faces?subjectIds=${subjectId}`,
  )
  const { items } = assertOk(crops).body
  assert.equal(items.length, 2)
  for (const { faceId } of items)
    assertOk(
      await testConsole.owner.get(
        `/projects/${projectId}/subjects/${subjectId}/faces/${faceId}/crop`,
      ),
    )
})

test('a visitor is deleted, or all of a project after a confirmation', async () => {
  const { client, projectId, line } = await createProject()
  const deleted = await visit(client, 'Zoe')
  for (const name of ['Val', 'Vin', 'Max']) await visit(client, name)
  const record = await runForJson(line(`delete ${deleted}`))
  assert.deepEqual([record.subjectId, record.embeddingCount], [deleted, 1])
  const entry = await lastAuditEntry()
  assert.deepEqual(
    [entry.auditAction, entry.detail.deletionId],
    ['visitor.delete', record.deletionId],
  )
  await assert.rejects(runForLines(line('delete')), /pass a <visitorId> or --all/u)
  await assert.rejects(runForLines(line(`delete ${deleted} --all`)), /pass a <visitorId> or --all/u)
  await assert.rejects(
    runForLines(line('delete --all')),
    /nothing was deleted; with --yes, the command permanently deletes 3 visitors of /u,
  )
  assert.deepEqual(await lastAuditEntry(), entry, 'a refused command has no entry')
  const other = await createProject()
  await visit(other.client, 'Val')
  assert.deepEqual(await runForJson(line('delete --all --yes')), { projectId, visitorsDeleted: 3 })
  const all = await lastAuditEntry()
  assert.deepEqual(
    [all.auditAction, all.target, all.detail.visitors],
    ['visitor.deleteAll', projectId, 3],
  )
  assert.deepEqual(await runForJson(line('list --ignored all')), [])
  assert.equal((await runForJson(other.line('list'))).length, 1)
  const { body } = await client.rest('GET', '/v1/deletions?visitors=true')
  assert.equal(body.items.length, 4)
})

test('a shorter retention, and the end of the storage, state which visitors are deleted', async () => {
  const { client, projectId } = await createProject()
  const old = await visit(client, 'Zoe')
  await visit(client, 'Max')
  const { store } = testConsole.gallery.database
  const lastSeenAtUtc = new Date(Date.now() - 8 * 86_400_000).toISOString()
  const change = store.db.updateTable('subjects').set({ lastSeenAtUtc })
  await change.where('subjectId', '=', old).execute()
  const set = async (value: string) =>
    (await runForLines(`project set ${projectId} --unknown-people ${value}`)).join('\n')
  assert.doesNotMatch(await set('9'), /visitors? /u)
  assert.match(
    await set('7'),
    /\ndeleted within a minute: 1 visitor without a picture for 7 days$/u,
  )
  assert.match(
    await set('off'),
    /\nstored until 7 days after the last picture: 2 visitors; facegate visitor delete --all deletes all of them$/u,
  )
  const json = await runForJson(`project set ${projectId} --unknown-people 7`)
  assert.equal(json.visitorsOverdue, 1)
})
