import path from 'node:path'
import { addFace, createSubject } from '../../../src/gallery/enrollment.ts'
import { createSubjectKeys, openKeyring } from '../../../src/gallery/keys/keyring.ts'
import { newId } from '../../../src/lib/ids.ts'
import { lockGallery, recordGalleryChange } from '../../../src/store/gallery/galleries.ts'
import { addGroups } from '../../../src/store/gallery/groups.ts'
import { addSubject } from '../../../src/store/gallery/subjects.ts'
import type { Tx } from '../../../src/store/database.ts'
import type { Project } from '../../../src/store/tenancy/projects.ts'
import type { TestGallery } from './test-gallery.ts'

const batchSubjects = 250
const dimensions = 64
const limits = { templatesPerSubject: 20, templatesPerGallery: 1e9 }

/** Runs a job for each batch of numbers, in separate transactions on the project's gallery. */
async function inBatches(
  { database }: TestGallery,
  { projectId }: Project,
  count: number,
  job: (tx: Tx, numbers: readonly number[]) => Promise<void>,
): Promise<void> {
  for (let from = 0; from < count; from += batchSubjects) {
    const size = Math.min(batchSubjects, count - from)
    const numbers = Array.from({ length: size }, (_, index) => from + index)
    await database.store.write(async (tx) => {
      await lockGallery(tx, projectId, 'exclusive')
      await job(tx, numbers)
    })
  }
}

/** Enrolls subjects with one face in the group `members`. */
export function fillGroup(gallery: TestGallery, project: Project, count: number): Promise<void> {
  const { projectId, accountId } = project
  const owner = { galleryId: projectId, accountId, projectId }
  const keys = createSubjectKeys(openKeyring(path.join(gallery.dataDir, 'master.key')), Date.now)
  return inBatches(gallery, project, count, async (tx, numbers) => {
    for (const number of numbers) {
      const nowUtc = new Date().toISOString()
      const subject = await createSubject(tx, keys, owner, {
        externalId: `member-${number}`,
        nowUtc,
      })
      const vector = Float32Array.from({ length: dimensions }, () => Math.random() - 0.5)
      const template = { modelId: 'people@1', vector, density: 0 }
      const options = { ...limits, keys, nowUtc, storeVectors: async () => {} }
      await addFace(tx, subject, { template, qualityScore: 80 }, options)
      await addGroups(tx, subject, ['members'])
    }
  })
}

/** Adds subjects without faces, with names of about 30 characters. The last one is `… last`. */
export async function fillSubjects(
  gallery: TestGallery,
  project: Project,
  count: number,
): Promise<void> {
  const { projectId, accountId } = project
  const owner = { galleryId: projectId, accountId, projectId }
  const keys = createSubjectKeys(openKeyring(path.join(gallery.dataDir, 'master.key')), Date.now)
  const nowUtc = new Date().toISOString()
  const first = await gallery.database.store.write((tx) =>
    createSubject(tx, keys, owner, { nowUtc }),
  )
  await inBatches(gallery, project, count, async (tx, numbers) => {
    await Promise.all(
      numbers.map((number) =>
        addSubject(tx, {
          ...first,
          subjectId: newId(),
          externalId: `badge-${number}`,
          displayName: `Person ${number} ${number === count - 1 ? 'last' : 'Müller-Löwenstein'}`,
          createdAtUtc: new Date(Date.parse(nowUtc) + number).toISOString(),
        }),
      ),
    )
    await recordGalleryChange(tx, { galleryId: projectId, subjects: numbers.length })
  })
}
