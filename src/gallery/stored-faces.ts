import type { SubjectRow } from '../store/gallery-schema.ts'
import { findFaceTemplates, findSubjectTemplates } from '../store/gallery/templates.ts'
import type { ReadTx } from '../store/database.ts'
import type { Template } from '../vision/embed/template.ts'
import type { Calibrations } from './calibration/calibrations.ts'
import type { DecryptStoredTemplate } from './keys/decrypt-stored-template.ts'
import { mapSequential } from '../lib/account-context.ts'

/** A stored face with decrypted templates, one per model, that of the active model first. */
export type StoredFace = { readonly faceId: string; readonly templates: readonly Template[] }

/** A subject, or only one of its faces. */
export type StoredFaceFilter = {
  readonly subject: SubjectRow
  readonly faceId?: string | undefined
}

/**
 * Decrypts the templates of stored faces for a search. Only the templates are decrypted by which the
 * faces of the gallery are compared: one per face, unless the gallery has faces of former models.
 */
export type ReadStoredFaces = (filter: StoredFaceFilter) => Promise<readonly StoredFace[]>

type StoredFacesOptions = {
  readonly read: <T>(work: (reading: ReadTx) => Promise<T>) => Promise<T>
  readonly decryptStored: DecryptStoredTemplate
  readonly calibrations: Calibrations
  readonly formerModels: (galleryId: string) => Promise<readonly string[]>
}

export function createReadStoredFaces({
  read,
  decryptStored,
  calibrations,
  formerModels,
}: StoredFacesOptions): ReadStoredFaces {
  return async ({ subject, faceId }) => {
    const modelIds = [calibrations.activeModelId, ...(await formerModels(subject.galleryId))]
    return read(async (reading) => {
      const rows =
        faceId === undefined
          ? await findSubjectTemplates(reading, [subject.subjectId])
          : await findFaceTemplates(reading, [faceId])
      const used = rows.filter(({ modelId }) => modelIds.includes(modelId))
      const faces: StoredFace[] = []
      for (const [id, ofFace] of Map.groupBy(used, (row) => row.faceId)) {
        const decrypted = await mapSequential(ofFace, (row) => decryptStored(reading, row))
        const templates = decrypted.flatMap((template) => template ?? [])
        if (templates.length > 0)
          faces.push({ faceId: id, templates: inOrder(templates, modelIds) })
      }
      return faces
    })
  }
}

function inOrder(templates: readonly Template[], modelIds: readonly string[]): Template[] {
  return templates.toSorted((a, b) => modelIds.indexOf(a.modelId) - modelIds.indexOf(b.modelId))
}
