import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { after, before, test } from 'node:test'
import { allActions } from '../../src/actions/all-actions.ts'
import { restRoutes } from '../../src/http/routes/rest-routes.ts'
import {
  imageParams,
  startGallery,
  type GalleryClient,
  type TestGallery,
} from '../support/gallery/test-gallery.ts'

let gallery: TestGallery
before(async () => {
  gallery = await startGallery()
})
after(() => gallery[Symbol.asyncDispose]())

type EnrolledSubject = {
  readonly subjectId: string
  readonly externalId: string
  readonly group: string
}
type AccessAttempt = (client: GalleryClient, named: EnrolledSubject) => Promise<unknown>

const call =
  (action: string, params: (named: EnrolledSubject) => object): AccessAttempt =>
  async (client, named) => {
    const { status, headers, body } = await client.call(action, params(named))
    return { status, headers: headerNames(headers), body: { ...body, requestId: '' } }
  }

const rest =
  (method: string, path: (named: EnrolledSubject) => string): AccessAttempt =>
  async (client, named) => {
    const { status, headers, body } = await client.rest(method, path(named))
    return { status, headers: headerNames(headers), body }
  }

/** Every way to name a subject or a group, by the action or route that takes it. */
const accessAttempts: Readonly<Record<string, readonly AccessAttempt[]>> = {
  'svc.detect': [],
  'svc.liveness': [],
  'svc.analyze': [],
  'svc.attributes': [],
  'svc.identify': [
    call('svc.identify', ({ group }) => ({ ...imageParams('Victim'), groups: [group] })),
  ],
  'svc.enroll': [
    call('svc.enroll', ({ subjectId }) => ({ ...imageParams('Victim'), subjectId })),
    call('svc.enroll', ({ subjectId }) => ({ ...imageParams('Victim'), subjectId, force: true })),
  ],
  'svc.verify': [
    call('svc.verify', ({ subjectId }) => ({ ...imageParams('Victim'), subjectId })),
    call('svc.verify', ({ externalId }) => ({ ...imageParams('Victim'), externalId })),
  ],
  'svc.updateSubject': [
    call('svc.updateSubject', ({ subjectId }) => ({ subjectId, displayName: 'Mine' })),
    call('svc.updateSubject', ({ subjectId }) => ({ ...imageParams('Victim'), subjectId })),
    call('svc.updateSubject', ({ subjectId }) => ({ subjectId, removeFaceIds: [randomUUID()] })),
  ],
  'svc.deleteSubject': [call('svc.deleteSubject', ({ subjectId }) => ({ subjectId }))],
  'GET /v1/subjects': [
    rest('GET', ({ externalId }) => `/v1/subjects?externalId=${externalId}`),
    rest('GET', ({ externalId }) => `/v1/subjects?q=${externalId}`),
    rest('GET', ({ group }) => `/v1/subjects?group=${group}&include=faces`),
  ],
  'GET /v1/subjects/:subjectId': [rest('GET', ({ subjectId }) => `/v1/subjects/${subjectId}`)],
  'GET /v1/groups': [rest('GET', () => '/v1/groups')],
  'DELETE /v1/groups/:name': [
    rest('DELETE', ({ group }) => `/v1/groups/${group}?dryRun=true`),
    rest('DELETE', ({ group }) => `/v1/groups/${group}`),
  ],
  'GET /v1/deletions': [
    rest('GET', ({ subjectId }) => `/v1/deletions?subjectId=${subjectId}`),
    rest('GET', ({ externalId }) => `/v1/deletions?externalId=${externalId}`),
  ],
}

test('the table of ways to name somebody leaves no action and no route out', () => {
  const known = [
    ...allActions.map(({ name }) => name),
    ...restRoutes.map(({ method, path }) => `${method} ${path}`),
  ]
  assert.deepEqual(Object.keys(accessAttempts).sort(), known.sort())
})

let count = 0

async function enrollNewSubject(client: GalleryClient): Promise<EnrolledSubject> {
  const named = { externalId: `secret-${++count}`, group: `circle-${count}` }
  const params = { ...imageParams(`Victim`), externalId: named.externalId, groups: [named.group] }
  const { subjectId } = await client.value('svc.enroll', { ...params, duplicateCheck: 'off' })
  return { ...named, subjectId }
}

async function enrollAndDelete(client: GalleryClient): Promise<EnrolledSubject> {
  const named = await enrollNewSubject(client)
  await client.value('svc.deleteSubject', { subjectId: named.subjectId })
  return named
}

const unknownSubject = (): EnrolledSubject => ({
  subjectId: randomUUID(),
  externalId: `secret-${++count}`,
  group: `circle-${count}`,
})

for (const galleryMode of ['isolated', 'shared'] as const)
  for (const [name, ways] of Object.entries(accessAttempts))
    for (const [way, ask] of ways.entries())
      test(`${name} (${way + 1}), ${galleryMode}: another's subject is as if it had never been`, async () => {
        const own = await gallery.createProjectClient({ galleryMode })
        const { accountId } = own.project
        const sibling = await gallery.createProjectClient({ galleryMode: 'isolated', accountId })
        const stranger = await gallery.createProjectClient({ galleryMode })
        const expected = maskIds(await ask(own, unknownSubject()))
        for (const owner of [sibling, stranger]) {
          const named = await enrollNewSubject(owner)
          assert.equal(maskIds(await ask(own, named)), expected)
          await owner.value('svc.deleteSubject', { subjectId: named.subjectId })
          assert.equal(maskIds(await ask(own, named)), expected, 'deleted')
        }
        // Own subjects are there; in shared mode those of the account's shared projects are own.
        // Of deletions, only those that have happened can be seen.
        const prepared = name === 'GET /v1/deletions' ? enrollAndDelete : enrollNewSubject
        const named = await prepared(own)
        const partner = await gallery.createProjectClient({ galleryMode, accountId })
        const seen = maskIds(await ask(own, named))
        assert.notEqual(seen, expected)
        const again = await prepared(own)
        const theirs = maskIds(await ask(partner, again))
        assert.equal(theirs === expected, galleryMode === 'isolated')
      })

test('tenants that enrolled the same face never see each other', async () => {
  const tenants = await Promise.all(
    ['isolated', 'isolated', 'shared', 'shared'].map((galleryMode) =>
      gallery.createProjectClient({ galleryMode: galleryMode as 'isolated' | 'shared' }),
    ),
  )
  const owners = new Map<string, number>()
  for (const [index, tenant] of tenants.entries())
    for (let take = 0; take < 3; take++) {
      const look = imageParams({ name: 'Everybody', deviation: 0.2, take })
      const { subjectId } = await tenant.value('svc.enroll', { ...look, duplicateCheck: 'off' })
      owners.set(subjectId, index)
    }
  const searches = Array.from({ length: 200 }, async (_, at) => {
    const index = at % tenants.length
    const look = imageParams({ name: 'Everybody', deviation: 0.4, take: at })
    const seen = await tenants[index]!.value('svc.identify', { ...look, maxCandidates: 100 })
    const { candidates } = seen.faces[0]
    assert.equal(candidates.length, 3)
    for (const { subjectId } of candidates) assert.equal(owners.get(subjectId), index)
  })
  await Promise.all(searches)
})

/** Names of headers; of the gate's, also what they say. */
function headerNames(headers: Headers): string[] {
  return [...headers.keys()].filter((header) => header !== 'date').sort()
}

/** What may differ because the question does: nothing but ids that were made for this answer. */
function maskIds(answer: unknown): string {
  return JSON.stringify(answer).replaceAll(
    /"(requestId|correlationId)":"[^"]*"/gu,
    (_text, name) => `"${name}":""`,
  )
}
