import { HttpError } from '../../../lib/errors.ts'
import type { ReadTx, Store } from '../../../store/database.ts'
import type { GalleryPageRow } from '../../../store/gallery-schema.ts'
import { findSubjectGroups, hasGroup } from '../../../store/gallery/groups.ts'
import { findRangeTemplates, type FaceRange } from '../../../store/gallery/search/face-ranges.ts'
import { findPages, type StoredPage } from '../../../store/gallery/search/gallery-pages.ts'
import type { Calibrations } from '../../calibration/calibrations.ts'
import type { DecryptStoredTemplate } from '../../keys/template-encryption.ts'
import type { PageEncryption } from '../../keys/page-encryption.ts'
import { mergeFaces, readFaceTemplates } from '../../match.ts'
import {
  countFaces,
  openPackedRows,
  packRows,
  type LoadedTemplate,
  type PackedRows,
} from './packed-rows.ts'

/** The models by which faces are compared. */
export type LoadedModels = Pick<Calibrations, 'activeModelId' | 'formerModelIds'>

/** A range of a gallery to read. */
export type LoadRange = FaceRange & {
  readonly accountId: string
  /** Whether pages cover the range. */
  readonly hasPages: boolean
  /** Whether faces that are decrypted one by one are to be written as a page. */
  readonly becomesPage: boolean
}

/** The templates of a range, and what the caller has to change in the database. */
export type RangeContent = Awaited<ReturnType<typeof readRange>>

export type PageFault = Pick<GalleryPageRow, 'galleryId' | 'afterSequence' | 'toSequence'> & {
  readonly error: unknown
}

export type ReadRangeDeps = {
  readonly store: Pick<Store, 'read'>
  readonly decryptStored: DecryptStoredTemplate
  readonly pageEncryption: PageEncryption
  readonly models: LoadedModels
}

/** Returns the models in a form that can be sent to a thread. */
export function loadedModelsOf({ activeModelId, formerModelIds }: LoadedModels): LoadedModels {
  return { activeModelId, formerModelIds: [...formerModelIds] }
}

/** The text by which a page is valid for a configuration of models. */
export function modelIdsOf({ activeModelId, formerModelIds }: LoadedModels): string {
  return JSON.stringify([activeModelId, ...formerModelIds])
}

/** Reads the pages of a range, and one by one the faces that no valid page contains. */
export function readRange(range: LoadRange, deps: ReadRangeDeps) {
  return deps.store.read(async (reading) => {
    const { galleryId, after, to, hasPages } = range
    const found = hasPages ? await findPages(reading, range, modelIdsOf(deps.models)) : []
    const packed: PackedRows[] = []
    /** Pages to write. */
    const newPages: GalleryPageRow[] = []
    /** Pages to delete, because they cannot be decrypted or have other faces than their range. */
    const damagedPages: PageFault[] = []
    /** The number of templates that were decrypted with the keys of their subjects. */
    let decrypted = 0
    const readFaces = async (from: number, until: number): Promise<void> => {
      if (from >= until) return
      const part = { ...range, after: from, to: until }
      const rows = packRows(await readSubjects(reading, part, deps))
      const faces = countFaces(rows)
      decrypted += faces
      if (faces === 0) return
      packed.push(rows)
      const page = await encryptPage(reading, part, { rows, deps })
      if (page) newPages.push(page)
    }
    let readTo = after
    for (const page of found) {
      await readFaces(readTo, page.afterSequence)
      try {
        packed.push(await openPage(reading, page, { range, deps }))
      } catch (error) {
        if (error instanceof HttpError) throw error
        const { afterSequence, toSequence } = page
        damagedPages.push({ galleryId, afterSequence, toSequence, error })
        await readFaces(afterSequence, toSequence)
      }
      readTo = page.toSequence
    }
    await readFaces(readTo, to)
    return { packed, decrypted, newPages, damagedPages }
  })
}

/** @throws Error if the page was changed, or its range contains other faces by now. */
async function openPage(
  reading: ReadTx,
  { facesNow, ...page }: StoredPage,
  { range: { accountId }, deps }: { readonly range: LoadRange; readonly deps: ReadRangeDeps },
): Promise<PackedRows> {
  if (facesNow !== page.faces)
    throw new Error(`the page has ${page.faces} faces, but its range has ${facesNow}`)
  const rows = openPackedRows(await deps.pageEncryption.decrypt(reading, accountId, page))
  freeBytes(page.ciphertext)
  if (countFaces(rows) !== page.faces)
    throw new Error(`the page has templates of ${countFaces(rows)} faces, not of ${page.faces}`)
  return rows
}

/** Frees bytes at once: otherwise each 30 MB of them cause a garbage collection. */
function freeBytes({ buffer, byteOffset, byteLength }: Uint8Array): void {
  // PostgreSQL returns views of larger buffers.
  const isWhole = byteOffset === 0 && byteLength === buffer.byteLength
  if (isWhole && buffer instanceof ArrayBuffer) buffer.transfer(0)
}

async function encryptPage(
  reading: ReadTx,
  { galleryId, accountId, after, to, becomesPage }: LoadRange,
  { rows, deps }: { readonly rows: PackedRows; readonly deps: ReadRangeDeps },
): Promise<GalleryPageRow | undefined> {
  if (!becomesPage) return undefined
  const range = { galleryId, accountId, afterSequence: after, toSequence: to }
  const binding = { ...range, faces: countFaces(rows), modelIds: modelIdsOf(deps.models) }
  return deps.pageEncryption.encrypt(reading, binding, rows.bytes)
}

/** Decrypts the templates of the subjects of a range, and merges those of each. */
async function readSubjects(
  reading: ReadTx,
  range: LoadRange,
  { decryptStored, models }: ReadRangeDeps,
): Promise<LoadedTemplate[]> {
  const bySubject = Map.groupBy(
    await findRangeTemplates(reading, range),
    ({ subjectId }) => subjectId,
  )
  const groups = await findGroups(reading, range.galleryId, [...bySubject.keys()])
  const subjects: LoadedTemplate[] = []
  for (const [subjectId, stored] of bySubject) {
    const faces = await readFaceTemplates(reading, stored, { decryptStored, models })
    const expiresAtUtc = stored[0]?.expiresAtUtc ?? null
    const owner = {
      subjectId,
      groups: groups.get(subjectId) ?? withoutGroups,
      expiresAtMs: expiresAtUtc === null ? undefined : Date.parse(expiresAtUtc),
    }
    for (const merged of mergeFaces(faces)) subjects.push({ ...merged, ...owner })
    for (const { vector } of faces) vector.fill(0)
  }
  return subjects
}

const withoutGroups: readonly string[] = []

/** Most galleries have no groups: then nothing is read for their subjects. */
async function findGroups(reading: ReadTx, galleryId: string, subjectIds: readonly string[]) {
  const hasAny = await hasGroup(reading, galleryId)
  return hasAny ? findSubjectGroups(reading, subjectIds) : new Map()
}
