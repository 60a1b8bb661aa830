import { createPageEncryption } from '../../src/gallery/keys/page-encryption.ts'
import { openKeyring } from '../../src/gallery/keys/keyring.ts'
import { pageFacesDefault } from '../../src/gallery/search/load/load-gallery.ts'
import { packRows } from '../../src/gallery/search/load/packed-rows.ts'
import { modelIdsOf, type LoadedModels } from '../../src/gallery/search/load/read-range.ts'
import type { SubjectOwner } from '../../src/gallery/enrollment.ts'
import { newId } from '../../src/lib/ids.ts'
import type { ReadTx, Store, Tx } from '../../src/store/database.ts'
import { recordGalleryChange } from '../../src/store/gallery/galleries.ts'
import { storePage } from '../../src/store/gallery/search/gallery-pages.ts'
import type { Template } from '../../src/vision/embed/template.ts'

export type PageFaces = {
  readonly count: number
  /** The faces of each subject, whose merged template a page contains. */
  readonly perSubject: number
  readonly nextTemplate: () => Template
  readonly models: LoadedModels
  readonly onProgress: (stored: number) => void
}

export type PageTarget = {
  readonly store: Store
  readonly masterKeyFile: string
  readonly owner: SubjectOwner
  /** A face of the gallery, to whose subject all stored faces belong. */
  readonly firstFaceId: string
}

/** Pages of one transaction: about 5 MB. */
const pagesPerTransaction = 20

/**
 * Stores faces and their pages, without the templates and subjects from which a service would write
 * the pages. A load reads the same as in a complete gallery.
 */
export async function storePages(target: PageTarget, faces: PageFaces): Promise<void> {
  const pageEncryption = createPageEncryption(openKeyring(target.masterKeyFile))
  const subjectId = await target.store.read((reading) => findSubjectId(reading, target.firstFaceId))
  for (let stored = 0; stored < faces.count;) {
    await target.store.write(async (tx) => {
      for (let page = 0; page < pagesPerTransaction && stored < faces.count; page++) {
        const size = Math.min(pageFacesDefault, faces.count - stored)
        await storeOnePage(tx, target.owner, { subjectId, size, faces, pageEncryption })
        stored += size
      }
    })
    faces.onProgress(stored)
  }
}

async function findSubjectId(tx: ReadTx, faceId: string): Promise<string> {
  const face = tx.build.selectFrom('faces').select('subjectId').where('faceId', '=', faceId)
  const [found] = await tx.run(face)
  if (!found) throw new Error(`the gallery has no face ${faceId}`)
  return found.subjectId
}

type PageOf = {
  readonly subjectId: string
  readonly size: number
  readonly faces: PageFaces
  readonly pageEncryption: ReturnType<typeof createPageEncryption>
}

async function storeOnePage(
  tx: Tx,
  { galleryId, accountId }: SubjectOwner,
  { subjectId, size, faces, pageEncryption }: PageOf,
): Promise<void> {
  const sequence = await recordGalleryChange(tx, { galleryId, subjects: 0, faces: size })
  const stored = { galleryId, sequence, qualityScore: 90, createdAtUtc: new Date().toISOString() }
  const { perSubject } = faces
  const rows = Array.from({ length: Math.ceil(size / perSubject) }, (_, subject) => ({
    ...faces.nextTemplate(),
    subjectId: newId(),
    ...(perSubject === 1 && { faceId: newId() }),
    faces: Math.min(perSubject, size - subject * perSubject),
    groups: [],
    expiresAtMs: undefined,
  }))
  const faceRows = Array.from({ length: size }, () => ({ ...stored, faceId: newId(), subjectId }))
  await tx.run(tx.build.insertInto('faces').values(faceRows))
  const range = { galleryId, accountId, afterSequence: sequence - 1, toSequence: sequence }
  const binding = { ...range, faces: size, modelIds: modelIdsOf(faces.models) }
  const page = await pageEncryption.encrypt(tx, binding, packRows(rows).bytes)
  if (!page || !(await storePage(tx, page))) throw new Error('the page was not stored')
}
