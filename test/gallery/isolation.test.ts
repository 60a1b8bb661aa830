import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { after, before, test } from 'node:test'
import { allActions } from '../../src/actions/all-actions.ts'
import { restRoutes } from '../../src/http/routes/rest-routes.ts'
import { isOnPostgres } from '../support/database/engine.ts'
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
  readonly faceId: string
  readonly group: string
}
type AccessAttempt = (client: GalleryClient, subject: EnrolledSubject) => Promise<unknown>

const call =
  (action: string, params: (subject: EnrolledSubject) => object): AccessAttempt =>
  async (client, subject) => {
    const { status, headers, body } = await client.call(action, params(subject))
    return { status, headers: headerNames(headers), body: { ...body, requestId: '' } }
  }

/** Takes the face of another gallery for an own subject. */
const takeFace: AccessAttempt = async (client, { faceId }) => {
  const own = { ...imageParams('Attacker'), onExisting: 'append', duplicateCheck: 'off' }
  const { subjectId } = await client.value('svc.enroll', { ...own, externalId: randomUUID() })
  const params = { subjectId, addFaceIds: [faceId], force: true }
  return { ...(await client.call('svc.updateSubject', params)).body, requestId: '' }
}

const rest =
  (method: string, path: (subject: EnrolledSubject) => string, sent?: object): AccessAttempt =>
  async (client, subject) => {
    const { status, headers, body } = await client.rest(method, path(subject), sent)
    return { status, headers: headerNames(headers), body }
  }

/** For each action and route, all requests that can name a subject or a group. */
const accessAttempts: Readonly<Record<string, readonly AccessAttempt[]>> = {
  'svc.detect': [],
  'svc.liveness': [],
  'svc.analyze': [],
  'svc.attributes': [],
  'svc.identify': [
    call('svc.identify', ({ group }) => ({ ...imageParams('Victim'), groups: [group] })),
    call('svc.identify', ({ subjectId }) => ({ subjectId })),
    call('svc.identify', ({ externalId }) => ({ externalId })),
    call('svc.identify', ({ faceId }) => ({ faceId })),
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
    call('svc.updateSubject', ({ externalId }) => ({ externalId, displayName: 'Mine' })),
    call('svc.updateSubject', ({ subjectId }) => ({ ...imageParams('Victim'), subjectId })),
    call('svc.updateSubject', ({ subjectId }) => ({ subjectId, removeFaceIds: [randomUUID()] })),
    takeFace,
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
  'POST /v1/feedback': [
    async (client, { subjectId, group }) => {
      const params = { ...imageParams('Victim'), groups: [group] }
      await gallery.database.store.db.updateTable('projects').set({ feedback: 1 }).execute()
      const { requestId } = (await client.call('svc.identify', params)).body
      const sent = { requestId, subjectId, verdict: 'deny' }
      const { status, headers, body } = await client.rest('POST', '/v1/feedback', sent)
      return { status, headers: headerNames(headers), body }
    },
  ],
  'POST /v1/groups/:name/rename': [
    rest('POST', ({ group }) => `/v1/groups/${group}/rename`, { name: 'mine' }),
  ],
  'GET /v1/visitors': [rest('GET', ({ subjectId }) => `/v1/visitors?subjectId=${subjectId}`)],
  // test/gallery/subjects/visitors.test.ts: a visitor of another project is not found.
  'GET /v1/visitors/:visitorId': [],
  'POST /v1/visitors/:visitorId/promote': [],
  'POST /v1/visitors/:visitorId/merge': [],
  'POST /v1/visitors/:visitorId/ignore': [],
  'DELETE /v1/visitors/:visitorId': [],
  'POST /v1/liveness/sessions': [],
  // test/liveness/sessions.test.ts: a session of another project is not found.
  'GET /v1/liveness/sessions/:sessionId': [],
  'GET /v1/me': [],
  'GET /v1/deletions': [
    rest('GET', ({ subjectId }) => `/v1/deletions?subjectId=${subjectId}`),
    rest('GET', ({ externalId }) => `/v1/deletions?externalId=${externalId}`),
  ],
}

test('The table of access attempts contains every action and route', () => {
  const names = [
    ...allActions.map(({ name }) => name),
    ...restRoutes.map(({ method, path }) => `${method} ${path}`),
  ]
  assert.deepEqual(Object.keys(accessAttempts).sort(), names.sort())
})

let count = 0

async function enrollNewSubject(client: GalleryClient): Promise<EnrolledSubject> {
  const { externalId, group } = unknownSubject()
  const params = { ...imageParams(`Victim`), externalId, groups: [group] }
  const sent = { ...params, duplicateCheck: 'off' }
  const { subjectId, faceId } = await client.value('svc.enroll', sent)
  return { externalId, group, subjectId, faceId }
}

async function enrollAndDelete(client: GalleryClient): Promise<EnrolledSubject> {
  const subject = await enrollNewSubject(client)
  await client.value('svc.deleteSubject', { subjectId: subject.subjectId })
  return subject
}

const unknownSubject = (): EnrolledSubject => ({
  subjectId: randomUUID(),
  faceId: randomUUID(),
  externalId: `secret-${++count}`,
  group: `circle-${count}`,
})

type OtherOwners = Readonly<
  Record<'sibling' | 'foreign', Awaited<ReturnType<TestGallery['createProjectClient']>>>
>

const ownersByMode = new Map<string, Promise<OtherOwners>>()

/**
 * Returns an isolated project, whose account gets the own project of each test, and a project of
 * another account. Each test deletes its subjects in both.
 */
function otherOwners(galleryMode: 'isolated' | 'shared'): Promise<OtherOwners> {
  const create = async (): Promise<OtherOwners> => ({
    sibling: await gallery.createProjectClient({ galleryMode: 'isolated' }),
    foreign: await gallery.createProjectClient({ galleryMode }),
  })
  const owners = ownersByMode.get(galleryMode) ?? create()
  ownersByMode.set(galleryMode, owners)
  return owners
}

/**
 * The gallery of a project is found by the same rule on both databases. On PostgreSQL, its statements
 * are tested in the mode in which some projects of an account share a gallery and others do not.
 */
const galleryModes = isOnPostgres() ? (['shared'] as const) : (['isolated', 'shared'] as const)

for (const galleryMode of galleryModes)
  for (const [name, attempts] of Object.entries(accessAttempts))
    for (const [index, attempt] of attempts.entries())
      test(`${name} (${index + 1}), ${galleryMode}: subjects of other galleries are handled as if they did not exist`, async () => {
        const { sibling, foreign } = await otherOwners(galleryMode)
        const { accountId } = sibling.project
        const own = await gallery.createProjectClient({ galleryMode, accountId })
        const unknown = unknownSubject()
        const expected = maskIds(await attempt(own, unknown), unknown)
        for (const owner of [sibling, foreign]) {
          const subject = await enrollNewSubject(owner)
          assert.equal(maskIds(await attempt(own, subject), subject), expected)
          await owner.value('svc.deleteSubject', { subjectId: subject.subjectId })
          assert.equal(maskIds(await attempt(own, subject), subject), expected, 'deleted')
        }
        // Own subjects are visible; in shared mode, also those of the account's other shared projects.
        // The list of deletions contains deleted subjects only.
        const prepare = name === 'GET /v1/deletions' ? enrollAndDelete : enrollNewSubject
        const subject = await prepare(own)
        const partner = await gallery.createProjectClient({ galleryMode, accountId })
        const ownResponse = maskIds(await attempt(own, subject), subject)
        assert.notEqual(ownResponse, expected)
        const secondSubject = await prepare(own)
        const partnerResponse = maskIds(await attempt(partner, secondSubject), secondSubject)
        assert.equal(partnerResponse === expected, galleryMode === 'isolated')
      })

test('Projects that enrolled the same face never find each other’s subjects', async () => {
  const clients = await Promise.all(
    ['isolated', 'isolated', 'shared', 'shared'].map((galleryMode) =>
      gallery.createProjectClient({ galleryMode: galleryMode as 'isolated' | 'shared' }),
    ),
  )
  const owners = new Map<string, number>()
  for (const [index, client] of clients.entries())
    for (let take = 0; take < 3; take++) {
      const params = imageParams({ name: 'Same person', deviation: 0.2, take })
      const { subjectId } = await client.value('svc.enroll', { ...params, duplicateCheck: 'off' })
      owners.set(subjectId, index)
    }
  const searches = Array.from({ length: 200 }, async (_, take) => {
    const index = take % clients.length
    const params = imageParams({ name: 'Same person', deviation: 0.4, take })
    const found = await clients[index]!.value('svc.identify', { ...params, maxCandidates: 100 })
    const { candidates } = found.faces[0]
    assert.equal(candidates.length, 3)
    for (const { subjectId } of candidates) assert.equal(owners.get(subjectId), index)
  })
  await Promise.all(searches)
})

/** Returns the names of the headers. */
function headerNames(headers: Headers): string[] {
  return [...headers.keys()].filter((header) => header !== 'date').sort()
}

/** Removes the only values that may differ: ids of the response, and values of the request itself. */
function maskIds(response: unknown, subject: EnrolledSubject): string {
  const { subjectId, externalId, faceId, group } = subject
  const masked = JSON.stringify(response).replaceAll(
    /"(requestId|correlationId)":"[^"]*"/gu,
    (_text, name) => `"${name}":""`,
  )
  return [subjectId, externalId, faceId, group].reduce(
    (text, value) => text.replaceAll(value, ''),
    masked,
  )
}
