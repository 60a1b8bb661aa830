import assert from 'node:assert/strict'
import path from 'node:path'
import { test } from 'node:test'
import { masterKey } from '../../src/cli/database/master-key.ts'
import { project } from '../../src/cli/tenancy/project.ts'
import { runJson } from '../support/cli/run-json.ts'
import { copyDatabase, isReadable, unwrapAllKeys } from '../support/gallery/database-copy.ts'
import { imageParams, startGallery, type TestGallery } from '../support/gallery/test-gallery.ts'

const masterKeyFileOf = ({ dataDir }: TestGallery): string => path.join(dataDir, 'master.key')

/** Enrolls several faces of one person. @returns the ids of the subject and of its faces. */
async function enrollFaces(gallery: TestGallery, name: string, count: number) {
  const faceIds: string[] = []
  let subjectId: string | undefined
  for (let take = 0; take < count; take++) {
    const image = imageParams({ name, deviation: 0.3, take })
    const params = { ...image, ...(subjectId !== undefined && { subjectId }) }
    const enrolled = await gallery.value('svc.enroll', params)
    subjectId = enrolled.subjectId
    faceIds.push(enrolled.faceId)
  }
  return { subjectId, faceIds }
}

test('A removed face and its crop are unreadable in an older copy of the database after the next key rotation', async () => {
  await using gallery = await startGallery()
  const { dataDir, database } = gallery
  const masterKeyFile = masterKeyFileOf(gallery)
  await runJson(dataDir, project, 'set default --store-crops on')
  const { subjectId, faceIds } = await enrollFaces(gallery, 'Ann', 3)
  const other = await enrollFaces(gallery, 'Ben', 1)
  const [removedId] = faceIds
  const copy = await copyDatabase(database.store)
  const removed = [...copy.templates, ...copy.crops].filter(({ faceId }) => faceId === removedId)
  assert.equal(removed.length, 2, 'a template and a crop')

  await gallery.value('svc.updateSubject', { subjectId, removeFaceIds: [removedId] })
  const keysBefore = unwrapAllKeys([copy, await copyDatabase(database.store)], masterKeyFile)
  for (const face of removed) assert.ok(isReadable(face, keysBefore), 'before the rotation')

  await runJson(dataDir, masterKey, 'rotate')
  const today = await copyDatabase(database.store)
  const keys = unwrapAllKeys([copy, today], masterKeyFile)
  for (const face of removed) assert.ok(!isReadable(face, keys), 'the removed face is readable')
  for (const face of [...today.templates, ...today.crops]) assert.ok(isReadable(face, keys))
  assert.deepEqual([today.templates.length, today.crops.length], [3, 3])

  for (const [take, faceId] of faceIds.entries()) {
    const image = imageParams({ name: 'Ann', deviation: 0.3, take })
    const verified = await gallery.value('svc.verify', { ...image, subjectId })
    assert.ok(verified.matched)
    if (faceId !== removedId) assert.deepEqual([verified.faceId, verified.similarity], [faceId, 1])
  }
  const identified = await gallery.value('svc.identify', imageParams('Ben'))
  assert.equal(identified.bestMatch.subjectId, other.subjectId)
})
