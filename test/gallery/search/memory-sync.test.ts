import assert from 'node:assert/strict'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { test } from 'node:test'
import {
  openExactSearch,
  type ExactSearch,
} from '../../../src/gallery/search/memory/exact-search.ts'
import {
  createGallerySync,
  type GallerySync,
} from '../../../src/gallery/search/memory/memory-search.ts'
import type { Store } from '../../../src/store/database.ts'
import { removeFaces } from '../../../src/store/gallery/faces.ts'
import { createGallery, recordGalleryChange } from '../../../src/store/gallery/galleries.ts'
import { deleteRemovals } from '../../../src/store/gallery/removals.ts'
import { openStore } from '../../../src/store/open-store.ts'
import { createAccount, createProject } from '../../../src/store/tenancy/projects.ts'
import { fakeCalibrations } from '../../support/gallery/fake-vision.ts'
import { silentLog, templateOf } from '../../support/gallery/search-pair.ts'

/** More than two pages of a load. */
const faceCount = 300

type LoadedGallery = {
  readonly store: Store
  readonly galleryId: string
  readonly exact: ExactSearch
  readonly sync: GallerySync
  /** Runs after a page was read, numbered from 1, and before it is applied. */
  onPage: (page: number) => Promise<void>
}

/** Opens a gallery of subjects with one face each that were stored one after another. */
async function withGallery(work: (gallery: LoadedGallery) => Promise<void>): Promise<void> {
  await using opened = new AsyncDisposableStack()
  const dataDir = await mkdtemp(path.join(tmpdir(), 'facegate-sync-'))
  opened.defer(() => rm(dataDir, { recursive: true, force: true }))
  const store = await openStore(dataDir)
  opened.defer(() => store.close())
  const exact = opened.use(openExactSearch({ threads: 1, log: silentLog }))
  const galleryId = await seedGallery(store)
  let pages = 0
  const read: Store['read'] = async (job) => {
    const result = await store.read(job)
    if (typeof result === 'object' && result && 'changes' in result) await gallery.onPage(++pages)
    return result
  }
  const sync = createGallerySync({
    store: { ...store, read },
    search: exact,
    decryptStored: async (_, { faceId }) => templateOf({ person: Number(faceId.slice(1)) }),
    calibrations: fakeCalibrations({ active: 'people@1' }),
    log: silentLog,
  })
  const gallery: LoadedGallery = { store, galleryId, exact, sync, onPage: async () => {} }
  await work(gallery)
}

async function seedGallery(store: Store): Promise<string> {
  const now = new Date()
  const nowUtc = now.toISOString()
  return store.runExclusive(async ({ db, tx }) => {
    const accountId = await createAccount(db, 'sync', now)
    const project = { accountId, name: 'sync', galleryMode: 'isolated' } as const
    const { projectId } = await createProject(db, project, now)
    const galleryId = projectId
    await createGallery(tx, { galleryId, accountId })
    const ciphertext = Buffer.from('encrypted')
    const key = { keyId: 'k', galleryId, masterKeyId: 'm', wrapped: ciphertext, createdAtMs: 1 }
    await db.insertInto('galleryKeys').values(key).execute()
    const times = { createdAtUtc: nowUtc, updatedAtUtc: nowUtc, lastSeenAtUtc: nowUtc }
    const names = {
      externalId: null,
      displayName: null,
      attributes: '{}',
      expiresAtUtc: null,
    }
    const flags = { needsNewKey: 0, withoutFaces: 0 } as const
    const ids = { galleryId, projectId, keyId: 'k', wrappedKey: ciphertext }
    for (let face = 1; face <= faceCount; face++) {
      const faceId = faceIdOf(face)
      const subjectId = subjectIdOf(face)
      await db
        .insertInto('subjects')
        .values({ ...ids, ...names, ...times, ...flags, subjectId })
        .execute()
      const sequence = await recordGalleryChange(tx, { galleryId, subjects: 1, faces: 1 })
      const row = { faceId, subjectId, galleryId, sequence, qualityScore: 90 }
      await db
        .insertInto('faces')
        .values({ ...row, createdAtUtc: nowUtc })
        .execute()
      const template = { faceId, galleryId, modelId: 'people@1', ciphertext }
      await db.insertInto('templates').values(template).execute()
    }
    return galleryId
  })
}

function faceIdOf(face: number): string {
  return `f${String(face).padStart(4, '0')}`
}

function subjectIdOf(face: number): string {
  return `s${String(face).padStart(4, '0')}`
}

/** Removes the first face of the gallery, and then the record of that. */
async function removeFirstFace({ store, galleryId }: LoadedGallery): Promise<void> {
  await store.write(async (tx) => {
    const sequence = await recordGalleryChange(tx, { galleryId, faces: -1 })
    await removeFaces(tx, { galleryId, subjectId: subjectIdOf(1), sequence }, [faceIdOf(1)])
    await deleteRemovals(tx, { galleryId, sequence })
  })
}

test('A face that is removed during a load is not in memory, even if its record is deleted', async () => {
  await withGallery(async (gallery) => {
    gallery.onPage = async (page) => {
      if (page === 1) await removeFirstFace(gallery)
    }
    await gallery.sync.sync(gallery.galleryId)
    assert.equal(gallery.exact.size(gallery.galleryId).faces, faceCount - 1)
    assert.equal(gallery.sync.reloadCount(gallery.galleryId), 1)
  })
})

test('A load after a failed one starts with an empty memory', async () => {
  await withGallery(async (gallery) => {
    const { galleryId, exact, sync } = gallery
    gallery.onPage = async (page) => {
      if (page === 2) throw new Error('the connection was lost')
    }
    await assert.rejects(sync.sync(galleryId), /the connection was lost/u)
    assert.ok(exact.size(galleryId).faces > 0, 'a part of the gallery is loaded')
    await removeFirstFace(gallery)
    await sync.sync(galleryId)
    assert.equal(exact.size(galleryId).faces, faceCount - 1)
  })
})

test('A gallery whose removals were deleted before its first load is loaded once', async () => {
  await withGallery(async (gallery) => {
    const { galleryId, exact, sync } = gallery
    await removeFirstFace(gallery)
    await sync.sync(galleryId)
    assert.equal(exact.size(galleryId).faces, faceCount - 1)
    assert.equal(sync.reloadCount(galleryId), 0)
  })
})
