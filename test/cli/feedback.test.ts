import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { readFile } from 'node:fs/promises'
import path from 'node:path'
import { after, before, test } from 'node:test'
import { feedbackCommands, subjectCommands } from '../../src/cli/subject/commands.ts'
import { project } from '../../src/cli/tenancy/commands.ts'
import { createLineRunner } from '../support/cli/run-json.ts'
import { assertOk, startConsole, type TestConsole } from '../support/console/test-console.ts'
import { fakeImage } from '../support/gallery/fake-vision.ts'
import { enrollPerson, identify, pictureOf } from '../support/gallery/feedback.ts'

let testConsole: TestConsole
before(async () => {
  testConsole = await startConsole()
  await runForJson('project set default --feedback on')
})
after(() => testConsole?.[Symbol.asyncDispose]())

const { runForLines, runForJson } = createLineRunner(
  [feedbackCommands, subjectCommands, project],
  () => testConsole.gallery.dataDir,
)

const audit = async () => assertOk(await testConsole.owner.get('/audit?limit=200')).body.items

test('A match is denied and confirmed while the server runs, with an entry in the audit log', async () => {
  const { gallery } = testConsole
  const ann = await enrollPerson(gallery, 'Ann', { groups: ['one'] })
  const search = (take: number) => identify(gallery, { ...pictureOf('Bea', take), groups: ['one'] })
  const { requestId } = await search(0)
  const match = { requestId, resultIndex: 0, faceIndex: 0, subjectId: ann }
  const upperCase = requestId.toUpperCase()
  assert.deepEqual(await runForJson(`feedback deny ${upperCase} --project default`), {
    ...match,
    verdict: 'denied',
  })
  assert.equal((await search(1)).value.matched, false)
  const [entry] = await audit()
  assert.deepEqual([entry.auditAction, entry.target], ['match.decide', requestId])
  const { osUser: _user, ...detail } = entry.detail
  const { projectId } = testConsole
  assert.deepEqual(detail, { verdict: 'denied', resultIndex: 0, faceIndex: 0, projectId })
  const lines = await runForLines(`feedback confirm ${requestId} --project default`)
  assert.deepEqual(lines, [`confirmed that the face is ${ann}`])
  assert.equal((await search(1)).value.matched, true)
})

test('Refusals name the option to correct, and add no entry', async () => {
  const { gallery } = testConsole
  const groups = ['two']
  for (const name of ['Cleo', 'Dan']) await enrollPerson(gallery, name, { groups })
  const [largest, smaller] = [
    { name: 'Cleo', take: 1, side: 300 },
    { name: 'Dan', take: 1, side: 200 },
  ]
  const { bytes, contentType } = fakeImage(largest, smaller)
  const image = { kind: 'image', bytes: bytes.toString('base64'), contentType }
  const sent = { images: [image], maxFaces: 5, threshold: 0.8, groups }
  const { requestId } = await identify(gallery, sent)
  const entries = (await audit()).length
  const deny = (line: string) => runForLines(`feedback deny ${line} --project default`)
  await assert.rejects(deny(requestId), /^Error: --face-index: must select one match; the call/u)
  const wrongImage = deny(`${requestId} --result-index 1`)
  await assert.rejects(wrongImage, /^Error: --result-index: must select one match; the call/u)
  await assert.rejects(deny(randomUUID()), /^Error: the call has no match that can be confirmed/u)
  await runForJson('project create without-feedback')
  await assert.rejects(
    runForLines(`feedback deny ${requestId} --project without-feedback`),
    /^Error: feedback is off in this project.*--feedback on/u,
  )
  assert.equal((await audit()).length, entries + 1, 'only that of the new project')
  const decided = await runForJson(
    `feedback confirm ${requestId} --project default --result-index 0 --face-index 1`,
  )
  assert.equal(decided.faceIndex, 1)
})

test('Verdicts are counted by project and group in a period, as a table and as JSON', async () => {
  const { gallery, owner, projectId } = testConsole
  await enrollPerson(gallery, 'Eva', { groups: ['three'] })
  const { requestId } = await identify(gallery, { ...pictureOf('Eva', 1), groups: ['three'] })
  await runForJson(`feedback confirm ${requestId} --project default`)
  const report = await runForJson('feedback show')
  assert.deepEqual(report, assertOk(await owner.get('/analytics/feedback')).body)
  const [counts] = report.projects
  assert.deepEqual([counts.projectId, counts.denied], [projectId, 0])
  const ofGroup = report.groups.find(({ group }: { readonly group: string }) => group === 'three')
  assert.deepEqual([ofGroup.confirmed, ofGroup.denied], [1, 0])
  const table = (await runForLines('feedback show --project default')).join('\n')
  assert.match(table, /^project +group +confirmed +denied +false matches +95 % interval/u)
  // The Wilson interval of 0 of 1.
  assert.match(table, /\ndefault +three +1 +0 +0\.0 % +0\.0 % to 79\.3 %/u)
  const later = await runForJson('feedback show --from 2999-01-01')
  assert.deepEqual(later, { projects: [], groups: [] })
  assert.deepEqual(await runForJson('feedback show --to 2001-01-01'), later)
})

test('The export of a subject contains its stored matches without their templates', async () => {
  const { gallery, projectId } = testConsole
  const groups = ['four']
  const subjectId = await enrollPerson(gallery, 'Fay', { groups, externalId: 'fay-1' })
  const requestIds: string[] = []
  for (const take of [1, 2, 3]) {
    const { requestId } = await identify(gallery, { ...pictureOf('Fay', take), groups })
    requestIds.push(requestId)
  }
  await runForJson(`feedback confirm ${requestIds[0]} --project default`)
  await runForJson(`feedback deny ${requestIds[1]} --project default`)
  const out = path.join(gallery.dataDir, 'fay.json')
  const before = Date.now()
  await runForJson(`subject export fay-1 --project default --out ${out}`)
  const { subject } = JSON.parse(await readFile(out, 'utf8'))
  assert.equal(subject.subjectId, subjectId)
  const times: readonly string[] = subject.matches.map(
    ({ matchedAtUtc }: { readonly matchedAtUtc: string }) => matchedAtUtc,
  )
  assert.ok(times.every((time) => Math.abs(Date.parse(time) - before) < 3_600_000))
  assert.deepEqual(
    subject.matches,
    ['confirmed', 'denied', null].map((verdict, index) => ({
      matchedAtUtc: times[index],
      projectId,
      requestId: requestIds[index],
      verdict,
    })),
  )
})
