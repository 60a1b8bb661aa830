import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { requireAccountScope } from '../../../src/lib/account-context.ts'
import { fillSubjects } from '../../support/gallery/fill-subjects.ts'
import { imageParams, startGallery, type TestGallery } from '../../support/gallery/test-gallery.ts'

/** Subjects of a page: each read loads at most 50 of them. */
const count = 120

/** Called before each read of an account, with the number of the read since the page was requested. */
let beforeRead = async (_number: number): Promise<void> => {}
let readingAccountId: string | undefined
let reads = 0

let nowMs = Date.UTC(2026, 0, 1)
let gallery: TestGallery
before(async () => {
  gallery = await startGallery({
    clock: () => nowMs,
    wrapStore: (store) => ({
      ...store,
      read: async (job) => {
        if (requireAccountScope() === readingAccountId) await beforeRead((reads += 1))
        return store.read(job)
      },
    }),
  })
})
after(() => gallery[Symbol.asyncDispose]())

type PageItem = {
  readonly subjectId: string
  readonly externalId: string
  readonly faces?: readonly { readonly faceId: string; readonly modelId: string }[]
}

const createClient = () => gallery.createProjectClient({ galleryMode: 'isolated' })
type Client = Awaited<ReturnType<typeof createClient>>

async function readPage(client: Client, query: string) {
  const { status, body } = await client.rest('GET', `/v1/subjects?include=faces&${query}`)
  assert.equal(status, 200, JSON.stringify(body))
  return body as { readonly items: readonly PageItem[]; readonly nextCursor: string | null }
}

/** Reads a page, and runs a job between two of its reads. */
async function readDuring(client: Client, query: string, job: (number: number) => Promise<void>) {
  reads = 0
  readingAccountId = client.project.accountId
  beforeRead = async (number) => {
    // The job itself reads, too.
    readingAccountId = undefined
    await job(number)
    readingAccountId = client.project.accountId
  }
  const page = await readPage(client, query)
  readingAccountId = undefined
  return page
}

async function enroll(client: Client, externalId: string) {
  nowMs += 1000
  const params = { ...imageParams(externalId), externalId, duplicateCheck: 'off' }
  return client.value('svc.enroll', params)
}

const namesOf = (items: readonly PageItem[]) => items.map(({ externalId }) => externalId)

test('A call of another account is answered between the reads of a page of subjects', async () => {
  const client = await createClient()
  const other = await createClient()
  await fillSubjects(gallery, client.project, count)
  for (const query of ['limit=200', 'limit=200&q=badge']) {
    let answered = 0
    const { items } = await readDuring(client, query, async () => {
      assert.deepEqual((await readPage(other, 'limit=1')).items, [])
      answered += 1
    })
    assert.equal(namesOf(items).filter((name) => name !== null).length, count)
    assert.ok(answered >= Math.ceil(count / 50), `${query}: ${answered} calls were answered`)
  }
})

test('A page omits subjects that end between its reads, and the next page continues after it', async () => {
  const client = await createClient()
  const { subjectId: targetId } = await enroll(client, 'badge-target')
  const { subjectId: sourceId } = await enroll(client, 'badge-source')
  await fillSubjects(gallery, client.project, count)
  const newestFirst = Array.from({ length: count }, (_, number) => `badge-${number}`).toReversed()
  const find = async (name: string) => {
    const { items } = await readPage(client, `externalId=${name}`)
    assert.ok(items[0])
    return items[0].subjectId
  }
  const change = async () => {
    await client.value('svc.deleteSubject', { subjectId: await find('badge-30') })
    await merge(client, sourceId, targetId)
    const renamed = { subjectId: await find('badge-32'), externalId: 'renamed', displayName: 'R' }
    await client.value('svc.updateSubject', renamed)
  }
  const query = `limit=${count + 1}&q=badge&sort=-created`
  const first = await readDuring(client, query, async (number) => {
    // The first read finds the page, the second one loads its first subjects.
    if (number === 3) await change()
  })
  const next = await readPage(client, `${query}&cursor=${first.nextCursor}`)
  assert.equal(next.nextCursor, null)
  const ended = new Set(['badge-30', 'badge-32'])
  assert.deepEqual(
    namesOf(first.items),
    newestFirst.filter((name) => !ended.has(name)),
  )
  assert.deepEqual(namesOf(next.items), ['badge-target'])
})

/** Merges a subject into another one of the gallery. */
async function merge({ project }: Client, sourceId: string, targetId: string) {
  const { subjects } = gallery.openedGallery
  const { projectId } = project
  await gallery.database.store.write(async (tx) => {
    await subjects.lock(tx, projectId, 'exclusive')
    const source = await subjects.find(tx, projectId, { subjectId: sourceId })
    const target = await subjects.find(tx, projectId, { subjectId: targetId })
    assert.ok(source && target)
    await subjects.merge(tx, { source, target })
  })
}

test('A page with faces has the faces of each subject and the model of each face', async () => {
  const client = await createClient()
  const enrolled = [await enroll(client, 'a'), await enroll(client, 'b')]
  const { items } = await readPage(client, 'limit=2')
  assert.deepEqual(
    items.map(({ faces = [] }) => faces.map(({ faceId, modelId }) => [faceId, modelId])),
    enrolled.map(({ faceId }) => [[faceId, 'people@1']]),
  )
})
