import assert from 'node:assert/strict'
import path from 'node:path'
import { sendCompreFace } from '../compreface/send.ts'
import { imageParams, type GalleryClient, type TestGallery } from '../gallery/test-gallery.ts'
import {
  loadWithoutPages,
  loadWithPages,
  readStoredPages,
  type PagedGallery,
} from './gallery-pages.ts'

export type PagedSubject = {
  readonly subjectId: string
  readonly externalId: string
  faceIds: string[]
}

/** Creates a project with subjects of one face each, and two groups. */
export async function createPagedGallery(service: TestGallery, subjectCount: number) {
  const client = await service.createProjectClient({ galleryMode: 'isolated' })
  const { store } = service.database
  const paged: PagedGallery = {
    store,
    masterKeyFile: path.join(service.dataDir, 'master.key'),
    galleryId: client.project.projectId,
    models: { activeModelId: 'people@2', formerModelIds: ['people@1'] },
  }
  let count = 0
  const enroll = async (params: object = {}): Promise<PagedSubject> => {
    const externalId = `person ${count++}`
    const ids = { externalId, duplicateCheck: 'off', ...params }
    const { subjectId, faceId } = await client.value('svc.enroll', {
      ...imageParams(externalId),
      ...ids,
    })
    return { subjectId, externalId, faceIds: [faceId] }
  }
  const addFace = async (subject: PagedSubject): Promise<void> => {
    const { subjectId } = subject
    const image = imageParams({ name: subject.externalId, deviation: 0.3, take: count++ })
    // After a merge, the remaining faces of the subject can be those of another person.
    const params = { subjectId, duplicateCheck: 'off', force: true }
    const added = await client.value('svc.enroll', { ...image, ...params })
    subject.faceIds.push(added.faceId)
  }
  const subjects: PagedSubject[] = []
  for (let index = 0; index < subjectCount; index++)
    subjects.push(await enroll(index % 3 === 0 ? { groups: ['staff'] } : {}))
  return { client, paged, subjects, enroll, addFace }
}

/** Asserts that each row of each page is what a load without pages reads now. @returns the subjects. */
export async function assertPagesCurrent(paged: PagedGallery): Promise<ReadonlySet<string>> {
  const current = await loadWithoutPages(paged)
  const pages = await readStoredPages(paged)
  for (const rows of pages)
    for (const [subjectId, row] of rows) assert.deepEqual(row, current.get(subjectId), subjectId)
  return new Set(pages.flatMap((rows) => [...rows.keys()]))
}

/** Asserts that a load with pages, which also writes pages, reads the same as one without. */
export async function assertSameLoad(paged: PagedGallery) {
  const load = await loadWithPages(paged)
  assert.deepEqual(load.rows, await loadWithoutPages(paged))
  assert.deepEqual(load.errors, [])
  await assertPagesCurrent(paged)
  return load
}

/** Moves the faces of a subject to another one. */
export async function mergeSubjects(
  client: GalleryClient,
  source: PagedSubject,
  target: PagedSubject,
): Promise<void> {
  const sourcePath = `/api/v1/recognition/subjects/${encodeURIComponent(source.externalId)}`
  const change = { subject: target.externalId }
  const { status, body } = await sendCompreFace(client, 'PUT', sourcePath, change)
  assert.equal(status, 200, JSON.stringify(body))
  target.faceIds.push(...source.faceIds)
}
