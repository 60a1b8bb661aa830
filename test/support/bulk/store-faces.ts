import { createSubjectKeys, openKeyring } from '../../../src/gallery/keys/keyring.ts'
import { encryptTemplate } from '../../../src/gallery/keys/template-encryption.ts'
import type { SubjectOwner } from '../../../src/gallery/enrollment.ts'
import { newId } from '../../../src/lib/ids.ts'
import type { Store, Tx } from '../../../src/store/database.ts'
import { createGallery, recordGalleryChange } from '../../../src/store/gallery/galleries.ts'
import type { FaceRow, SubjectRow, TemplateRow } from '../../../src/store/gallery-schema.ts'
import type { Template } from '../../../src/vision/embed/template.ts'

/** Subjects with one face each, stored with few statements. */
export type BulkFaces = {
  readonly count: number
  readonly templateAt: (index: number) => Template
  readonly onProgress?: (stored: number) => void
}

type BulkTarget = {
  readonly store: Store
  readonly masterKeyFile: string
  readonly owner: SubjectOwner
}

/** Faces of one transaction, and of one statement. */
const facesPerTransaction = 5_000
const facesPerStatement = 250

/** Stores faces directly in the database. @returns their ids, in the order of their templates. */
export async function storeFaces(target: BulkTarget, faces: BulkFaces): Promise<readonly string[]> {
  const { store, owner } = target
  const keys = createSubjectKeys(openKeyring(target.masterKeyFile), Date.now)
  const faceIds: string[] = []
  const { galleryId, accountId } = owner
  await store.write((tx) => createGallery(tx, { galleryId, accountId }))
  while (faceIds.length < faces.count) {
    await store.write(async (tx) => {
      const end = Math.min(faces.count, faceIds.length + facesPerTransaction)
      while (faceIds.length < end) {
        const size = Math.min(facesPerStatement, end - faceIds.length)
        const templates = Array.from({ length: size }, (_, offset) =>
          faces.templateAt(faceIds.length + offset),
        )
        const first = faceIds.length
        const names = templates.map((__, offset) => `person-${first + offset}`)
        faceIds.push(...(await storeBatch(tx, keys, owner, { templates, names })))
      }
    })
    faces.onProgress?.(faceIds.length)
  }
  return faceIds
}

type StoredBatch = { readonly templates: readonly Template[]; readonly names: readonly string[] }

async function storeBatch(
  tx: Tx,
  keys: ReturnType<typeof createSubjectKeys>,
  owner: SubjectOwner,
  { templates, names }: StoredBatch,
): Promise<readonly string[]> {
  const { galleryId, accountId, projectId } = owner
  const size = templates.length
  const sequence = await recordGalleryChange(tx, { galleryId, subjects: size, faces: size })
  const nowUtc = new Date().toISOString()
  const times = { createdAtUtc: nowUtc, updatedAtUtc: nowUtc, lastSeenAtUtc: nowUtc }
  const subjects: SubjectRow[] = []
  const faces: FaceRow[] = []
  const stored: TemplateRow[] = []
  for (const [index, template] of templates.entries()) {
    const [subjectId, faceId] = [newId(), newId()]
    const { key, ...wrapped } = await keys.create(tx, { subjectId, galleryId })
    const text = { externalId: names[index] ?? null, displayName: null, attributes: '{}' }
    const rest = { expiresAtUtc: null, withoutFaces: 0 } as const
    subjects.push({ subjectId, galleryId, projectId, ...text, ...wrapped, ...times, ...rest })
    faces.push({ faceId, subjectId, galleryId, sequence, qualityScore: 90, createdAtUtc: nowUtc })
    const { modelId } = template
    const binding = { accountId, galleryId, subjectId, faceId, modelId }
    stored.push({ faceId, galleryId, modelId, ciphertext: encryptTemplate(key, binding, template) })
  }
  await tx.run(tx.build.insertInto('subjects').values(subjects))
  await tx.run(tx.build.insertInto('faces').values(faces))
  await tx.run(tx.build.insertInto('templates').values(stored))
  return faces.map(({ faceId }) => faceId)
}
