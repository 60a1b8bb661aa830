import path from 'node:path'
import { addFace, createSubject } from '../../../src/gallery/enrollment.ts'
import { createSubjectKeys, openKeyring } from '../../../src/gallery/keys/keyring.ts'
import { lockGallery } from '../../../src/store/gallery/galleries.ts'
import { addGroups } from '../../../src/store/gallery/groups.ts'
import type { Project } from '../../../src/store/tenancy/projects.ts'
import type { Template } from '../../../src/vision/embed/template.ts'
import type { TestGallery } from './test-gallery.ts'

export type SubjectToFill = {
  readonly externalId: string
  readonly groups?: readonly string[]
  readonly templates: readonly Template[]
}

/** The data folder contains the master key. */
export type GalleryToFill = Pick<TestGallery, 'dataDir'> & {
  readonly database: Pick<TestGallery['database'], 'store'>
}

const limits = { templatesPerSubject: 100, templatesPerGallery: 1e9 }

/** Enrolls subjects with these templates directly in the database, in one transaction. */
export async function fillTemplates(
  gallery: GalleryToFill,
  { projectId, accountId }: Pick<Project, 'projectId' | 'accountId'>,
  subjects: readonly SubjectToFill[],
): Promise<void> {
  const owner = { galleryId: projectId, accountId, projectId }
  const keys = createSubjectKeys(openKeyring(path.join(gallery.dataDir, 'master.key')), Date.now)
  const nowUtc = new Date().toISOString()
  const options = { ...limits, keys, nowUtc, storeVectors: async () => {} }
  await gallery.database.store.write(async (tx) => {
    await lockGallery(tx, projectId, 'exclusive')
    for (const { externalId, groups = [], templates } of subjects) {
      const subject = await createSubject(tx, keys, owner, { externalId, nowUtc })
      for (const template of templates)
        await addFace(tx, subject, { template, qualityScore: 90 }, options)
      await addGroups(tx, subject, groups)
    }
  })
}
