import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { after, before, test } from 'node:test'
import { updateProject } from '../../../src/store/tenancy/projects.ts'
import { allActions } from '../../../src/actions/all-actions.ts'
import { toParamsSchema } from '../../../src/actions/schemas/params-schema.ts'
import { problemsMax } from '../../../src/lib/errors.ts'
import { nilUuid } from '../../../src/lib/ids.ts'
import { imageParams, startGallery, type TestGallery } from '../../support/gallery/test-gallery.ts'
import { errorsOf, images, type WireProblem } from '../../support/wrong-calls/errors-of.ts'
import { createTestSteadyClock } from '../../support/gate/test-steady-clock.ts'

let gallery: TestGallery
before(async () => {
  gallery = await startGallery({
    environment: { COMPREFACE_API: 'on' },
    // An exhausted rate limit stays exhausted.
    wrapStore: createTestSteadyClock().wrapStore,
  })
})
after(() => gallery[Symbol.asyncDispose]())

test('An empty list of images is the same error in every action that has images', async () => {
  const subjectId = randomUUID()
  for (const action of allActions) {
    if (!('images' in toParamsSchema(action).properties)) continue
    const { name } = action
    const own = name === 'svc.updateSubject' ? { subjectId } : {}
    const { images: _, ...others } = action.example.params as Readonly<Record<string, unknown>>
    const errors = await errorsOf(gallery, name, { ...others, ...own, images: [] })
    assert.deepEqual(
      errors,
      [
        {
          code: 'INVALID_REQUEST',
          message: 'params.images: must be a list of 1 to 10 items; received 0 items',
          path: 'params.images',
        },
      ],
      name,
    )
  }
})

test(`A response has at most ${problemsMax} errors; the last one counts the others`, async () => {
  const unknown = (count: number) =>
    Object.fromEntries(Array.from({ length: count }, (_, index) => [`field${index}`, index]))
  const all = await errorsOf(gallery, 'svc.detect', {
    images: images('Ada'),
    ...unknown(problemsMax),
  })
  assert.equal(all.length, problemsMax)
  assert.ok(all.every(({ path }) => path?.startsWith('params.field')))
  const counts: readonly [() => Promise<WireProblem[]>, string][] = [
    [() => errorsOf(gallery, 'svc.detect', { images: images('Ada'), ...unknown(3000) }), '2981'],
    [
      async () =>
        (await gallery.post({ action: 'svc.detect', params: {}, ...unknown(3000) })).body.errors,
      '2981',
    ],
    [
      () => errorsOf(gallery, 'svc.detect', { images: Array.from({ length: 10 }, () => ({})) }),
      '11',
    ],
  ]
  for (const [run, count] of counts) {
    const errors = await run()
    assert.equal(errors.length, problemsMax)
    assert.equal(
      errors.at(-1)?.message,
      `${count} further problems are not listed; correct these first`,
    )
    assert.ok(JSON.stringify(errors).length < 16_384)
  }
  const { body } = await gallery.rest(
    'GET',
    `/v1/groups?${new URLSearchParams(manyFields(300)).toString()}`,
  )
  assert.match(body.detail, /281 further problems are not listed/u)
})

/** Short names, so that the URL stays below the limit of the headers. */
function manyFields(count: number): Record<string, string> {
  return Object.fromEntries(Array.from({ length: count }, (_, index) => [`f${index}`, '']))
}

test('A malformed id is an invalid request in every route', async () => {
  const { key, project } = await gallery.createProjectClient({ galleryMode: 'isolated' })
  const client = gallery.withKey(key)
  for (const [method, path, field] of [
    ['GET', '/v1/subjects/7', 'path.subjectId'],
    ['GET', `/v1/subjects/${nilUuid}`, 'path.subjectId'],
    ['DELETE', '/v1/groups/night%20shift', 'path.name'],
    ['GET', '/v1/deletions?subjectId=7', 'query.subjectId'],
    ['GET', `/v1/deletions?subjectId=${nilUuid}`, 'query.subjectId'],
  ] as const) {
    const { status, body } = await client.rest(method, path)
    assert.deepEqual([status, String(body.detail).split(':')[0]], [400, field], path)
  }
  for (const [method, path] of [
    ['DELETE', '/api/v1/recognition/faces/7'],
    ['DELETE', `/api/v1/recognition/faces/${nilUuid}`],
  ] as const) {
    const { status, body } = await client.rest(method, path)
    assert.deepEqual([status, String(body.message).split(':')[0]], [400, 'path.image_id'], path)
  }
  const rows = await gallery.database.store.db
    .selectFrom('calls')
    .select('code')
    .where('projectId', '=', project.projectId)
    .execute()
  assert.deepEqual([...new Set(rows.map(({ code }) => code))], ['INVALID_REQUEST'])
})

test('The nil UUID is refused as a request id and as the id of a subject or face', async () => {
  const refused = await gallery.call('svc.detect', imageParams('Ada'), { requestId: nilUuid })
  assert.equal(refused.body.errors[0].path, 'requestId')
  assert.match(refused.body.errors[0].message, /other than the nil UUID/u)
  assert.notEqual(refused.body.requestId, nilUuid)
  for (const [action, params, path] of [
    ['svc.deleteSubject', { subjectId: nilUuid }, 'params.subjectId'],
    ['svc.updateSubject', { subjectId: nilUuid }, 'params.subjectId'],
    [
      'svc.updateSubject',
      { subjectId: randomUUID(), removeFaceIds: [nilUuid] },
      'params.removeFaceIds[0]',
    ],
    ['svc.identify', { faceId: nilUuid }, 'params.faceId'],
    ['svc.enroll', { images: images('Ada'), subjectId: nilUuid }, 'params.subjectId'],
  ] as const) {
    const [error] = await errorsOf(gallery, action, params)
    assert.deepEqual([error?.code, error?.path], ['INVALID_REQUEST', path])
    assert.match(error?.message ?? '', /must be a UUID other than the nil UUID/u)
  }
})

test('A repeated parameter of a query is refused', async () => {
  for (const [path, text] of [
    ['/v1/subjects?limit=1&limit=2', 'query.limit'],
    ['/v1/groups/staff?dryRun=true&dryRun=false', 'query.dryRun'],
  ] as const) {
    const { status, body } = await gallery.rest(path.includes('dryRun') ? 'DELETE' : 'GET', path)
    assert.equal(status, 400, path)
    assert.equal(body.detail, `${text}: must be sent once; received 2 values`)
  }
  const faces = '/api/v1/recognition/faces?subject=ada&subject=ben'
  for (const method of ['GET', 'DELETE']) {
    const { status, body } = await gallery.rest(method, faces)
    assert.equal(status, 400, method)
    assert.match(body.message, /^query\.subject: must be sent once; received 2 values/u)
  }
})

test('The message about an invalid time contains an example of a valid one', async () => {
  const example = /2030-01-31T00:00:00Z/u
  for (const value of ['tomorrow', '2030-02-30T00:00:00Z', 7]) {
    const [error] = await errorsOf(gallery, 'svc.enroll', {
      images: images('Ada'),
      expiresAtUtc: value,
    })
    assert.match(error?.message ?? '', example)
  }
  const past = await errorsOf(gallery, 'svc.enroll', {
    images: images('Ada'),
    expiresAtUtc: '2020-01-01T00:00:00Z',
  })
  assert.match(past[0]?.message ?? '', /must be after \d{4}-\d\d-\d\dT[\d:.]+Z/u)
  for (const query of ['createdFromUtc=today', 'createdToUtc=2030-02-30T00:00:00Z']) {
    const { body } = await gallery.rest('GET', `/v1/subjects?${query}`)
    assert.match(body.detail, example)
  }
})

test('A response 400 has no Retry-After, even above the rate limit', async () => {
  const client = await gallery.createProjectClient({ galleryMode: 'isolated' })
  const { store } = gallery.database
  await updateProject(store.db, client.project.projectId, { sustainedPerS: 1, burst: 1 })
  await client.call('svc.detect', imageParams('Ada'))
  const limited = await client.call('svc.detect', imageParams('Ada'))
  assert.equal(limited.body.errors[0].code, 'RATE_LIMITED')
  assert.ok(limited.headers.get('retry-after'))
  const malformed = await client.post('{')
  assert.deepEqual([malformed.status, malformed.headers.get('retry-after')], [400, null])
  const version = await client.post('{}', { 'x-api-version': '2' })
  assert.deepEqual([version.status, version.headers.get('retry-after')], [400, null])
})
