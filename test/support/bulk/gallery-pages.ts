import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { createDecryptStoredTemplate } from '../../../src/gallery/keys/template-encryption.ts'
import { createSubjectKeys, openKeyring } from '../../../src/gallery/keys/keyring.ts'
import { createPageEncryption } from '../../../src/gallery/keys/page-encryption.ts'
import { listLoadRanges } from '../../../src/gallery/search/load/load-ranges.ts'
import {
  openPackedRows,
  unpackSections,
  type PackedRows,
} from '../../../src/gallery/search/load/packed-rows.ts'
import {
  modelIdsOf,
  readRange,
  type LoadedModels,
} from '../../../src/gallery/search/load/read-range.ts'
import { createPageWriter } from '../../../src/gallery/search/load/write-pages.ts'
import { ownerWords } from '../../../src/gallery/search/table/row-owners.ts'
import { idWords, readIdWords } from '../../../src/gallery/search/table/subject-rows.ts'
import type { Store } from '../../../src/store/database.ts'
import { findGallery, findNewestGalleryKey } from '../../../src/store/gallery/galleries.ts'

/** A gallery whose pages are tested, and the models by which its faces are compared. */
export type PagedGallery = {
  readonly store: Store
  readonly masterKeyFile: string
  readonly galleryId: string
  readonly models: LoadedModels
}

/** The content of a row of the index. */
export type IndexedRow = {
  readonly modelId: string
  readonly faces: number
  /** Zeros with several faces. */
  readonly faceId: string
  readonly groups: readonly string[]
  readonly expiresAtMs: number
  readonly density: number
  readonly vector: string
}

export type PageLoad = {
  /** Subject id → its row; with several models, the model follows the id. */
  readonly rows: ReadonlyMap<string, IndexedRow>
  /** The number of templates that were decrypted with the keys of their subjects. */
  readonly decrypted: number
  readonly pagesStored: number
  /** The errors that were logged. */
  readonly errors: readonly object[]
}

/** Four faces per page: a test needs few faces for several pages. */
export const pageFaces = 4

/** Loads a gallery as a start does, but in the calling thread, and writes its pages. */
export async function loadWithPages(gallery: PagedGallery): Promise<PageLoad> {
  const { store, galleryId, models } = gallery
  const deps = depsOf(gallery)
  const row = await store.read((reading) => findGallery(reading, galleryId))
  const { accountId = '', sequence = 0 } = row ?? {}
  const errors: object[] = []
  const log = { warn: assert.fail, error: (fields: object) => void errors.push(fields) }
  const writer = createPageWriter(store, log as never)
  const rows = new Map<string, IndexedRow>()
  let decrypted = 0
  const scope = { galleryId, accountId, sequence, modelIds: modelIdsOf(models), pageFaces, store }
  for await (const range of listLoadRanges(scope)) {
    const content = await readRange(range, deps)
    decrypted += content.decrypted
    for (const packed of content.packed) addRows(rows, packed)
    await writer.write(content)
  }
  return { rows, decrypted, pagesStored: writer.stored(), errors }
}

/** Decrypts all templates of a gallery one by one. */
export async function loadWithoutPages(gallery: PagedGallery): Promise<PageLoad['rows']> {
  const { store, galleryId } = gallery
  const row = await store.read((reading) => findGallery(reading, galleryId))
  const { accountId = '', sequence: to = 0 } = row ?? {}
  const range = { galleryId, accountId, after: 0, to, hasPages: false, becomesPage: false }
  const rows = new Map<string, IndexedRow>()
  for (const packed of (await readRange(range, depsOf(gallery))).packed) addRows(rows, packed)
  return rows
}

/** Decrypts all stored pages of a gallery. @returns the rows of each page. */
export async function readStoredPages({ store, masterKeyFile, galleryId }: PagedGallery) {
  const pageEncryption = createPageEncryption(openKeyring(masterKeyFile))
  return store.read(async (reading) => {
    const accountId = (await findGallery(reading, galleryId))?.accountId ?? ''
    const query = reading.build.selectFrom('galleryPages').selectAll()
    const stored = await reading.run(query.where('galleryId', '=', galleryId))
    const pages: ReadonlyMap<string, IndexedRow>[] = []
    for (const page of stored) {
      const rows = new Map<string, IndexedRow>()
      addRows(rows, openPackedRows(await pageEncryption.decrypt(reading, accountId, page)))
      pages.push(rows)
    }
    return pages
  })
}

function depsOf({ store, masterKeyFile, models }: PagedGallery) {
  const keyring = openKeyring(masterKeyFile)
  const log = { error: () => {} }
  const decryptStored = createDecryptStoredTemplate(createSubjectKeys(keyring, Date.now), log)
  return { store, decryptStored, pageEncryption: createPageEncryption(keyring), models }
}

function addRows(rows: Map<string, IndexedRow>, packed: PackedRows): void {
  for (const section of unpackSections(packed))
    for (let row = 0; row < section.rows; row++) {
      const { modelId, ids, dimensions } = section
      const subjectId = readIdWords(ids, row * ownerWords)
      const key = rows.has(subjectId) ? `${subjectId} ${modelId}` : subjectId
      assert.ok(!rows.has(key), 'a load contains each subject once')
      const vector = section.vectors.slice(row * dimensions, (row + 1) * dimensions)
      rows.set(key, {
        modelId,
        faces: section.faces[row] ?? 0,
        faceId: readIdWords(ids, row * ownerWords + idWords),
        groups: packed.header.groupSets[section.groups[row] ?? 0] ?? [],
        expiresAtMs: section.expiriesMs[row] ?? 0,
        density: section.densities[row] ?? 0,
        vector: Buffer.from(vector.buffer).toString('base64'),
      })
    }
}

/** Adds a page that covers all faces of a gallery. It cannot be decrypted. */
export async function addPage(store: Store, galleryId: string): Promise<void> {
  await store.write(async (tx) => {
    const sequence = (await findGallery(tx, galleryId))?.sequence ?? 0
    const key = await findNewestGalleryKey(tx, galleryId)
    assert.ok(key && sequence > 0, 'the gallery has a subject')
    const range = { galleryId, afterSequence: 0, toSequence: sequence, faces: 1, modelIds: '[]' }
    const encrypted = {
      keyId: key.keyId,
      wrappedKey: randomBytes(60),
      ciphertext: randomBytes(5_000),
    }
    await tx.run(tx.build.insertInto('galleryPages').values({ ...range, ...encrypted }))
  })
}

/** Returns the number of pages of a gallery. */
export async function countPages({ db }: Pick<Store, 'db'>, galleryId: string): Promise<number> {
  const query = db.selectFrom('galleryPages').select('toSequence')
  return (await query.where('galleryId', '=', galleryId).execute()).length
}
