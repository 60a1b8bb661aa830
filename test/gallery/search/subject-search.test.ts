import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import {
  readSubjects,
  type SubjectSource,
} from '../../../src/store/gallery/search/search-subjects.ts'
import { fillSubjects } from '../../support/gallery/fill-subjects.ts'
import { imageParams, startGallery, type TestGallery } from '../../support/gallery/test-gallery.ts'

let gallery: TestGallery
before(async () => {
  gallery = await startGallery()
})
after(() => gallery[Symbol.asyncDispose]())

const newProject = () => gallery.createProjectClient({ galleryMode: 'isolated' })

type SearchClient = Awaited<ReturnType<typeof newProject>>
type FoundSubject = { readonly externalId: string }

/** Returns the external ids of all subjects with a text, page by page. */
async function search(client: SearchClient, text: string, query = ''): Promise<string[]> {
  const found: string[] = []
  for (let cursor: string | null = ''; cursor !== null;) {
    const path = `/v1/subjects?q=${encodeURIComponent(text)}${query}${cursor && `&cursor=${cursor}`}`
    const { status, body } = await client.rest('GET', path)
    assert.equal(status, 200, JSON.stringify(body))
    found.push(...body.items.map(({ externalId }: FoundSubject) => externalId))
    cursor = body.nextCursor
  }
  return found
}

async function enroll(client: SearchClient, externalId: string, displayName: string) {
  const params = { ...imageParams(externalId), externalId, displayName, duplicateCheck: 'off' }
  return (await client.value('svc.enroll', params)).subjectId as string
}

test('A search ignores case and accents of all scripts, and finds any part of a name or id', async () => {
  const client = await newProject()
  const names: Readonly<Record<string, string>> = {
    'e-1': 'Zoë Müller-Łukasz',
    'e-2': 'Straße ÉCOLE',
    'e-3': 'ΟΔΥΣΣΕΎΣ Ёлкин',
    'Ä-4': '100%_a\\b',
  }
  for (const [externalId, name] of Object.entries(names)) await enroll(client, externalId, name)
  const expected: Readonly<Record<string, readonly string[]>> = {
    'ZOE MULLER': ['e-1'],
    zoë: ['e-1'],
    lukasz: ['e-1'],
    STRASSE: ['e-2'],
    straße: ['e-2'],
    école: ['e-2'],
    οδυσσευς: ['e-3'],
    ЕЛКИН: ['e-3'],
    'a-4': ['Ä-4'],
    '%_a\\': ['Ä-4'],
    _: ['Ä-4'],
    e: ['e-1', 'e-2', 'e-3'],
    'e-': ['e-1', 'e-2', 'e-3'],
    'Lukasz e-1': [],
  }
  for (const [text, found] of Object.entries(expected))
    assert.deepEqual(await search(client, text), found, text)
})

test('A changed or removed name is found by its new text only', async () => {
  const client = await newProject()
  const subjectId = await enroll(client, 'id-1', 'Jürgen')
  await client.value('svc.updateSubject', { subjectId, displayName: 'Émile' })
  assert.deepEqual(await search(client, 'jurgen'), [])
  assert.deepEqual(await search(client, 'emile'), ['id-1'])
  await client.value('svc.updateSubject', { subjectId, externalId: 'Übung-2' })
  assert.deepEqual(await search(client, 'emile'), ['Übung-2'])
  assert.deepEqual(await search(client, 'ubung'), ['Übung-2'])
  assert.deepEqual(await search(client, 'id-1'), [])
  await client.value('svc.deleteSubject', { subjectId })
  assert.deepEqual(await search(client, 'emile'), [])
  const { db } = gallery.database.store
  const rows = await db
    .selectFrom('subjects')
    .select('searchText')
    .where('searchText', 'like', '%emile%')
    .execute()
  assert.deepEqual(rows, [])
})

test('A search reads a large gallery in steps and lists each subject once, in order', async () => {
  const client = await newProject()
  const count = 12_000
  await fillSubjects(gallery, client.project, count)
  const expected = Array.from({ length: count }, (_, number) => `badge-${number}`)
  const isMatch = (id: string): boolean => id.includes('00')
  assert.deepEqual(await search(client, 'BADGE', '&limit=200'), expected)
  assert.deepEqual(
    await search(client, 'badge-1199'),
    expected.slice(1199, 1200).concat(expected.slice(11_990)),
  )
  const zeros = await search(client, '00', '&limit=7')
  assert.deepEqual(zeros, expected.filter(isMatch))
  const { store } = gallery.database
  for (const stepRows of [1000, 1001, 11_999, 12_000, 12_001, 50_000]) {
    let reads = 0
    const source: SubjectSource = {
      ...store,
      stepRows,
      read: (job) => {
        reads += 1
        return store.read(job)
      },
    }
    const filter = { galleryId: client.project.projectId, text: 'badge-119', limit: count }
    const listed = await readSubjects(source, filter, async (_reading, subjects) => subjects)
    const found = expected.filter((id) => id.startsWith('badge-119'))
    assert.deepEqual(
      listed.map(({ subject }) => subject?.externalId),
      found,
    )
    // `fillSubjects` adds one more subject. The last reads are those of the rows, 50 at a time.
    const rowReads = Math.ceil(found.length / 50)
    const searchReads = Math.floor((count + 1) / stepRows) + 1
    assert.equal(reads, searchReads + rowReads, `${stepRows} subjects per step`)
  }
  assert.deepEqual(await search(client, 'badge', '&group=none'), [])
  assert.deepEqual(await search(client, 'last', '&externalId=badge-11999'), ['badge-11999'])
})

test('A search text of 1 to 128 characters is accepted', async () => {
  const client = await newProject()
  const statusOf = async (length: number): Promise<number> =>
    (await client.rest('GET', `/v1/subjects?q=${'ü'.repeat(length)}`)).status
  assert.equal(await statusOf(0), 400)
  assert.equal(await statusOf(1), 200)
  assert.equal(await statusOf(128), 200)
  assert.equal(await statusOf(129), 400)
})
