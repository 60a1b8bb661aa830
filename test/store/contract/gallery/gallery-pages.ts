import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import type { GalleryPageRow } from '../../../../src/store/gallery-schema.ts'
import type { Tx } from '../../../../src/store/database.ts'
import { queries } from '../tracked-queries.ts'
import {
  assertSameValues,
  createProjectGallery,
  enrollSubject,
  type StoreFixture,
} from '../store-fixture.ts'

const modelIds = '["active"]'

/** Enrolls subjects with one face each. Their changes have the numbers 1, 2, 3, … */
async function startWithSubjects(fixture: StoreFixture, count: number) {
  const galleryId = fixture.project.projectId
  const keyId = await createProjectGallery(fixture)
  for (let index = 1; index <= count; index++) await enrollSubject(fixture, `s-${index}`)
  const { store } = fixture
  const pageOf = (afterSequence: number, toSequence: number): GalleryPageRow => ({
    galleryId,
    afterSequence,
    toSequence,
    faces: toSequence - afterSequence,
    modelIds,
    keyId,
    wrappedKey: randomBytes(60),
    ciphertext: randomBytes(1000),
  })
  const storePage = (page: GalleryPageRow) => store.write((tx) => queries.storePage(tx, page))
  /** Returns the last changes of the stored pages. */
  const storedPages = async (forModelIds = modelIds) => {
    const filter = { galleryId, modelIds: forModelIds, after: 0, limit: 99 }
    const ranges = await store.read((tx) => queries.listPageRanges(tx, filter))
    return ranges.map(({ toSequence }) => toSequence)
  }
  return { store, galleryId, keyId, pageOf, storePage, storedPages }
}

export const galleryPagesContract = {
  'pages of a gallery are stored, listed in their order, found and deleted': async (
    fixture: StoreFixture,
  ) => {
    const { store, galleryId, keyId, pageOf, storePage, storedPages } = await startWithSubjects(
      fixture,
      6,
    )
    const [second, first] = [pageOf(2, 4), pageOf(0, 2)]
    assert.deepEqual([await storePage(second), await storePage(first)], [true, true])
    assert.deepEqual(await storedPages(), [2, 4])
    const listLarge = (templateCountMin: number) =>
      store.read((tx) => queries.listLargeGalleries(tx, templateCountMin))
    const { accountId } = fixture.project
    assertSameValues(await listLarge(6), [{ galleryId, accountId, sequence: 6 }])
    assertSameValues(await listLarge(7), [])
    const list = { galleryId, modelIds, after: 2, limit: 1 }
    assertSameValues(await store.read((tx) => queries.listPageRanges(tx, list)), [
      { afterSequence: 2, toSequence: 4 },
    ])
    const find = (after: number, to: number) =>
      store.read((tx) => queries.findPages(tx, { galleryId, after, to }, modelIds))
    const found = await find(0, 4)
    const bytesOf = ({ ciphertext, wrappedKey, ...page }: GalleryPageRow) => ({
      ...page,
      ciphertext: Buffer.from(ciphertext).toString('hex'),
      wrappedKey: Buffer.from(wrappedKey).toString('hex'),
    })
    assertSameValues(
      found.map(bytesOf),
      [first, second].map((page) => ({ ...bytesOf(page), facesNow: 2 })),
    )
    assertSameValues(await find(1, 3), [])
    assertSameValues(
      await store.read((tx) => queries.findPages(tx, { galleryId, after: 0, to: 9 }, '["other"]')),
      [],
    )
    await store.write((tx) => queries.deletePage(tx, { galleryId, toSequence: 2 }))
    assert.deepEqual(await storedPages(), [4])
    await storePage(first)
    await queries.deletePages(store, { keyId: 'older' })
    assert.deepEqual(await storedPages(), [2, 4])
    await queries.deletePages(store, { keyId })
    assert.deepEqual(await storedPages(), [])
    for (let to = 1; to <= 6; to++) await storePage(pageOf(to - 1, to))
    await queries.deletePages(store)
    assert.deepEqual(await storedPages(), [])
  },
  'a page is not stored if its faces changed, overlap another page or have an older key': async (
    fixture: StoreFixture,
  ) => {
    const { store, galleryId, pageOf, storePage, storedPages } = await startWithSubjects(fixture, 6)
    assert.equal(await storePage({ ...pageOf(0, 2), faces: 3 }), false)
    assert.equal(await storePage({ ...pageOf(0, 2), keyId: 'older' }), false)
    assert.equal(await storePage(pageOf(1, 4)), true)
    for (const [after, to] of [
      [0, 2],
      [1, 4],
      [2, 3],
      [3, 6],
      [0, 6],
    ] as const)
      assert.equal(await storePage(pageOf(after, to)), false, `${after} to ${to}`)
    assert.deepEqual([await storePage(pageOf(0, 1)), await storePage(pageOf(4, 6))], [true, true])
    // A page for other models is replaced.
    const others = '["next","active"]'
    assert.equal(await storePage({ ...pageOf(0, 4), modelIds: others }), true)
    assert.deepEqual([await storedPages(), await storedPages(others)], [[6], [4]])
    const moved = await store.write(async (tx) => {
      const sequence = await queries.recordGalleryChange(tx, { galleryId })
      await queries.markSubjectChanged(tx, { subjectId: 's-6', sequence })
      return sequence
    })
    assert.equal(await storePage(pageOf(4, 6)), false, 'a face has left the range')
    assert.equal(await storePage({ ...pageOf(4, moved), faces: 2 }), true)
  },
  'every change of a face, its template or its subject deletes the page of the face': async (
    fixture: StoreFixture,
  ) => {
    const { store, galleryId, pageOf, storePage, storedPages } = await startWithSubjects(fixture, 9)
    const faceOf = (subjectId: string) => `face of ${subjectId}`
    const ciphertext = randomBytes(9)
    const key = { keyId: 'wrapping', wrappedKey: ciphertext }
    const faceId = faceOf('s-4')
    const changes: Readonly<Record<string, (tx: Tx) => Promise<unknown>>> = {
      'its number': (tx) => queries.markSubjectChanged(tx, { subjectId: 's-4', sequence: 5 }),
      'its subject': (tx) =>
        queries.moveFaces(tx, {
          galleryId,
          fromSubjectId: 's-4',
          toSubjectId: 's-5',
          sequence: 4,
        }),
      'its subject back': (tx) =>
        tx.run(
          tx.build.updateTable('faces').set({ subjectId: 's-4' }).where('faceId', '=', faceId),
        ),
      'its ciphertext': (tx) =>
        queries.replaceTemplateCiphertext(tx, { galleryId, faceId, modelId: 'active', ciphertext }),
      'the key of the subject': (tx) => queries.replaceSubjectKey(tx, 's-4', key),
      'the expiry of the subject': (tx) =>
        queries.updateSubjectRow(tx, 's-4', { expiresAtUtc: '2030-01-01T00:00:00.000Z' }),
      'the end of the expiry': (tx) => queries.updateSubjectRow(tx, 's-4', { expiresAtUtc: null }),
      'its template': (tx) => tx.run(tx.build.deleteFrom('templates').where('faceId', '=', faceId)),
    }
    const pages = [pageOf(0, 3), pageOf(3, 6), pageOf(6, 9)]
    for (const [name, change] of Object.entries(changes)) {
      for (const page of pages) await storePage(page)
      assert.deepEqual(await storedPages(), [3, 6, 9])
      await store.write(change)
      assert.deepEqual(await storedPages(), [3, 9], `a change of ${name} deletes one page`)
    }
    for (const page of pages) await storePage(page)
    const name = { displayName: 'Ann', lastSeenAtUtc: '2030-01-01T00:00:00.000Z' }
    await store.write((tx) => queries.updateSubjectRow(tx, 's-4', name))
    assert.deepEqual(await storedPages(), [3, 6, 9], 'a page contains no names')
    await store.write(async (tx) => {
      for (const subjectId of ['s-4', 's-5'])
        await queries.removeFaces(tx, { galleryId, subjectId, sequence: 10 }, [faceOf(subjectId)])
    })
    assert.deepEqual(await storedPages(), [3, 9], 'a deleted face')
    await store.write((tx) => queries.removeSubject(tx, 's-9'))
    assert.deepEqual(await storedPages(), [3], 'a deleted subject')
  },
}
