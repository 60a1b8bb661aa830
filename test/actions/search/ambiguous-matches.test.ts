import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { after, before, test } from 'node:test'
import { callLog } from '../../../src/cli/call-log/commands.ts'
import { webhook } from '../../../src/cli/webhooks/commands.ts'
import { createLineRunner, runJson } from '../../support/cli/run-json.ts'
import { assertOk, startConsole, type TestConsole } from '../../support/console/test-console.ts'
import type { FakePerson } from '../../support/gallery/fake-vision.ts'
import { imageParams } from '../../support/gallery/test-gallery.ts'
import { deliveriesOf, webhookSettings } from '../../support/webhooks/webhook-settings.ts'

let testConsole: TestConsole
before(async () => {
  // The command line reads its settings from the environment of this process.
  Object.assign(process.env, webhookSettings)
  testConsole = await startConsole({ environment: webhookSettings })
})
after(() => testConsole[Symbol.asyncDispose]())

const { runForLines } = createLineRunner([callLog], () => testConsole.gallery.dataDir)

const takeOf = (name: string, take: number): FakePerson => ({ name, deviation: 0.5, take })

async function enroll(person: FakePerson): Promise<string> {
  const params = { ...imageParams(person), duplicateCheck: 'off' }
  return (await testConsole.gallery.value('svc.enroll', params)).subjectId
}

type Face = {
  readonly matched: boolean
  readonly ambiguous?: true
  readonly candidates: readonly { readonly subjectId: string; readonly similarity: number }[]
}

/** Identifies the people of one picture. @returns the faces, and the row of the call in the log. */
async function identify(people: readonly FakePerson[], fields: object = {}) {
  const requestId = randomUUID()
  const params = { ...imageParams(...people), maxFaces: 10, ...fields }
  const { faces } = await testConsole.gallery.value('svc.identify', params, { requestId })
  const { items } = assertOk(await testConsole.owner.get(`/log?requestId=${requestId}`)).body
  return { faces: faces as readonly Face[], row: items[0], requestId }
}

test('A match whose next subject is about as similar is ambiguous: in the response, the log and webhooks', async () => {
  const { projectId, gallery, owner } = testConsole
  const line = `create --project ${projectId} --url https://example.com --events identify.matched`
  const all = await runJson(gallery.dataDir, webhook, line)
  const onlyAmbiguous = await runJson(gallery.dataDir, webhook, `${line} --outcomes ambiguous`)
  await enroll(takeOf('Ann', 0))
  const single = await identify([takeOf('Ann', 1)])
  assert.deepEqual([single.faces[0]?.matched, single.row.outcome], [true, 'match'])
  assert.equal('ambiguous' in (single.faces[0] ?? {}), false)

  await enroll(takeOf('Ann', 2))
  const { faces, row, requestId } = await identify([takeOf('Ann', 1)], { maxCandidates: 1 })
  const [face] = faces
  assert.deepEqual([face?.matched, face?.ambiguous, face?.candidates.length], [true, true, 1])
  assert.deepEqual([row.outcome, row.similarity], ['ambiguous', face?.candidates[0]?.similarity])
  assert.ok(row.margin >= 0 && row.margin < 0.15, String(row.margin))
  const logged = await runForLines(`log --outcome ambiguous --json`)
  assert.deepEqual(
    logged.map((one) => JSON.parse(one).requestId),
    [requestId],
  )
  const csv = assertOk(await owner.get('/log.csv?outcome=ambiguous')).text
  assert.ok(csv.includes(requestId))
  const charts = assertOk(await owner.get('/analytics/calls?by=outcome')).body
  const totals = charts.series.map(({ id, total }: { id: string; total: number }) => [id, total])
  assert.deepEqual(Object.fromEntries(totals)['ambiguous'], 1)
  const outcomesTo = async (webhookId: string) =>
    (await deliveriesOf(gallery.database.store, webhookId)).map(
      ({ data }) => JSON.parse(data).matches[0].outcome,
    )
  assert.deepEqual(new Set(await outcomesTo(all.webhookId)), new Set(['ambiguous', 'match']))
  assert.deepEqual(await outcomesTo(onlyAmbiguous.webhookId), ['ambiguous'])

  const unknown = await identify([{ name: 'Zoe' }])
  assert.deepEqual([unknown.faces[0]?.matched, unknown.row.outcome], [false, 'no_match'])
  await enroll({ name: 'Cid' })
  const certain = await identify([takeOf('Ann', 1), { name: 'Cid' }])
  assert.equal(certain.row.outcome, 'match', 'a certain match of another face counts')
})

test('uniqueSubjects matches a subject with one face of a picture only, by the best total', async () => {
  const first = await enroll(takeOf('Ben', 0))
  const people = [takeOf('Ben', 1), takeOf('Ben', 2), { name: 'Zoe' }]
  const bestOf = ({ candidates: [best] }: Face) => best?.subjectId
  const plain = await identify(people)
  assert.deepEqual(plain.faces.map(bestOf), [first, first, undefined])
  const [a, b] = plain.faces.map(({ candidates }) => candidates[0]?.similarity ?? 0)
  const unique = await identify(people, { uniqueSubjects: true })
  const expected = (a ?? 0) > (b ?? 0) ? [first, undefined] : [undefined, first]
  assert.deepEqual(unique.faces.map(bestOf), [...expected, undefined])
  assert.deepEqual(
    unique.faces.map(({ matched }) => matched),
    unique.faces.map((face) => bestOf(face) !== undefined),
  )

  // The second subject is exactly one of the faces: the other face keeps the first subject.
  const second = await enroll(takeOf('Ben', 1))
  const both = await identify(people, { uniqueSubjects: true, maxCandidates: 1 })
  assert.deepEqual(both.faces.map(bestOf), [second, first, undefined])
  for (const { candidates } of both.faces) assert.ok(candidates.length <= 1)
  const stored = { subjectId: first, uniqueSubjects: true }
  assert.equal(await testConsole.gallery.code('svc.identify', stored), 'INVALID_REQUEST')
})
