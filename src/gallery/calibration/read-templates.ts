import { setImmediate as nextEventLoopTurn } from 'node:timers/promises'
import type { Store } from '../../store/database.ts'
import {
  countGalleryTemplates,
  findGalleryTemplates,
  type GalleryTemplatesFilter,
} from '../../store/gallery/calibration/gallery-templates.ts'
import { findSubjectGroups } from '../../store/gallery/groups.ts'
import {
  createDecryptStoredTemplate,
  type DecryptStoredTemplate,
} from '../keys/template-encryption.ts'
import { createSubjectKeys, openKeyring } from '../keys/keyring.ts'
import { concatenate } from '../../lib/density/vectors.ts'
import { mapSequential } from '../../lib/account-context.ts'

/** The decrypted templates of one model of a gallery. Biometric data: it stays in memory. */
export type GalleryTemplates = {
  readonly modelId: string
  readonly subjects: readonly CalibrationSubject[]
  /** The values of a vector. */
  readonly dimensions: number
  /** All vectors, one after another. */
  readonly vectors: Float32Array
  readonly densities: Float64Array
  /** For each template, the index of its subject. */
  readonly subjectOf: Int32Array
  /** For each template, its face. */
  readonly faces: readonly TemplateFace[]
  /** Templates that were changed or moved in the database and cannot be decrypted. */
  readonly unreadable: number
  /** Faces that have only templates of other models. */
  readonly otherFaces: number
}

export type CalibrationSubject = {
  readonly subjectId: string
  readonly externalId: string | null
  readonly groups: readonly string[]
}

/** The face of a template, and when it was enrolled. */
export type TemplateFace = { readonly faceId: string; readonly createdAtUtc: string }

type ReadTemplatesOptions = {
  readonly store: Pick<Store, 'read'>
  readonly decryptStored: DecryptStoredTemplate
  readonly onProgress: (done: number, total: number) => void
}

/** Reads the templates of a gallery, as `readTemplates`, with the master key of a file. */
export function readGallery(
  filter: GalleryTemplatesFilter,
  {
    masterKeyFile,
    ...options
  }: Omit<ReadTemplatesOptions, 'decryptStored'> & {
    readonly masterKeyFile: string
  },
): Promise<GalleryTemplates> {
  const keys = createSubjectKeys(openKeyring(masterKeyFile), Date.now)
  // The result contains the number of templates that cannot be decrypted.
  const decryptStored = createDecryptStoredTemplate(keys, { error: () => undefined })
  return readTemplates(filter, { ...options, decryptStored })
}

/** The most templates that are read; they need 1 GB at 512 dimensions. */
const calibrationTemplatesMax = 500_000

const templatesPerPage = 500

/**
 * Reads and decrypts the templates of a gallery. Of a gallery with more than 500,000 it reads that
 * many, in the order of their random face ids.
 */
async function readTemplates(
  filter: GalleryTemplatesFilter,
  { store, decryptStored, onProgress }: ReadTemplatesOptions,
): Promise<GalleryTemplates> {
  const counts = await store.read((reading) => countGalleryTemplates(reading, filter))
  const total = Math.min(counts.templates, calibrationTemplatesMax)
  const collected = createCollector(filter.modelId)
  for (let afterFaceId = '', read = 0; read < total;) {
    const page = { afterFaceId, limit: Math.min(templatesPerPage, total - read) }
    const rows = await store.read(async (reading) => {
      const found = await findGalleryTemplates(reading, filter, page)
      const subjectIds = [...new Set(found.map(({ subjectId }) => subjectId))]
      const groups = await findSubjectGroups(reading, subjectIds)
      return mapSequential(found, async (row) => ({
        ...row,
        groups: groups.get(row.subjectId) ?? [],
        template: await decryptStored(reading, row),
      }))
    })
    for (const row of rows) collected.add(row, row.template)
    read += rows.length
    onProgress(read, total)
    const last = rows.at(-1)
    if (!last || rows.length < page.limit) break
    afterFaceId = last.faceId
    await nextEventLoopTurn()
  }
  return { ...collected.result(), otherFaces: counts.otherFaces }
}

type DecryptedTemplate = { readonly vector: Float32Array; readonly density: number }

function createCollector(modelId: string) {
  const indexes = new Map<string, number>()
  const subjects: CalibrationSubject[] = []
  const vectors: Float32Array[] = []
  const densities: number[] = []
  const subjectOf: number[] = []
  const faces: TemplateFace[] = []
  let unreadable = 0
  const indexOf = ({ subjectId, externalId, groups }: CalibrationSubject): number => {
    const index = indexes.get(subjectId) ?? subjects.length
    if (index === subjects.length) subjects.push({ subjectId, externalId, groups })
    indexes.set(subjectId, index)
    return index
  }
  return {
    add: (subject: CalibrationSubject & TemplateFace, template: DecryptedTemplate | undefined) => {
      if (!template || template.vector.length !== (vectors[0] ?? template.vector).length)
        unreadable++
      else {
        vectors.push(template.vector)
        densities.push(template.density)
        subjectOf.push(indexOf(subject))
        faces.push({ faceId: subject.faceId, createdAtUtc: subject.createdAtUtc })
      }
    },
    result: () => ({
      modelId,
      subjects,
      dimensions: vectors[0]?.length ?? 0,
      vectors: concatenate(vectors),
      densities: Float64Array.from(densities),
      subjectOf: Int32Array.from(subjectOf),
      faces,
      unreadable,
    }),
  }
}
