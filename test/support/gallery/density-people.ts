import { setTimeout as sleep } from 'node:timers/promises'
import type { Store } from '../../../src/store/database.ts'
import { templateCountsByModel } from '../../../src/store/gallery/model-coverage.ts'
import { fakeTemplate, type FakePerson } from './fake-vision.ts'
import { imageParams, type GalleryClient, type TestGallery } from './test-gallery.ts'

/** The models of one gallery before and after a release with a larger cohort. */
export const earlierCohort = { active: 'cohort@1' }
export const laterCohort = { active: 'cohort@2', former: ['cohort@1'] }

/** Two pictures of a person, and a third one to search with. */
export const pictureOf = (name: string, take: number): FakePerson => ({
  name,
  take,
  deviation: 0.4,
})

/** Enrolls people with two pictures each through the API. */
export async function enrollPeople(client: GalleryClient, names: readonly string[]) {
  for (const name of names) {
    const first = imageParams(pictureOf(name, 1))
    const { subjectId } = await client.value('svc.enroll', { ...first, externalId: name })
    await client.value('svc.enroll', { ...imageParams(pictureOf(name, 2)), subjectId })
  }
}

/** Enrolls many people with two pictures each without the API, which takes longer. */
export async function fillPeople(
  { database: { store }, openedGallery: { gallery } }: TestGallery,
  prefix: string,
  count: number,
): Promise<void> {
  const [project] = await store.db.selectFrom('projects').selectAll().execute()
  if (!project) throw new Error('the database has no project')
  const { projectId, accountId, galleryMode } = project
  const galleryId = galleryMode === 'shared' ? accountId : projectId
  await store.write(async (tx) => {
    await gallery.lock(tx, galleryId, 'exclusive')
    for (let index = 0; index < count; index++) {
      const name = `${prefix} ${index}`
      const owner = { galleryId, accountId, projectId }
      const subject = await gallery.create(tx, owner, { externalId: name })
      for (const take of [1, 2]) {
        const template = fakeTemplate(pictureOf(name, take), earlierCohort.active)
        await gallery.addFace(tx, subject, { template, qualityScore: 90 })
      }
    }
  })
}

/** Returns the number of templates of both versions. */
export async function countVersions(store: Store): Promise<readonly [number, number]> {
  const counts = await store.read(templateCountsByModel)
  return [counts.get('cohort@1') ?? 0, counts.get('cohort@2') ?? 0]
}

/** Resolves when at most this many templates of the earlier version are left. */
export async function waitForUpdate(store: Store, remaining = 0): Promise<void> {
  while ((await countVersions(store))[0] > remaining) await sleep(20)
}
