import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { test } from 'node:test'
import { pino } from 'pino'
import { keyCommands, project } from '../../src/cli/tenancy/commands.ts'
import { retireTemplates } from '../../src/store/gallery/retire-model.ts'
import { runJson } from '../support/cli/run-json.ts'
import { databaseSettings, isDatabaseSearch } from '../support/database/engine.ts'
import {
  copyDatabase,
  isReadable,
  unwrapAllKeys,
  type DatabaseCopy,
} from '../support/gallery/database-copy.ts'
import { imageParams, startGallery, type TestGallery } from '../support/gallery/test-gallery.ts'

/** The search in the database uses the same ciphertexts as the search in memory. */
const skip = isDatabaseSearch() && 'postgres/gallery/removed-faces.test.ts does this'

const masterKeyFileOf = ({ dataDir }: TestGallery): string => path.join(dataDir, 'master.key')

const copyOf = ({ database }: TestGallery): Promise<DatabaseCopy> => copyDatabase(database.store)

const facesOf = ({ templates, crops }: DatabaseCopy) => [...templates, ...crops]

/** Asserts that today's keys decrypt today's data, and nothing else of an older copy. */
async function assertOnlyTodayIsReadable(gallery: TestGallery, copy: DatabaseCopy): Promise<void> {
  const today = await copyOf(gallery)
  const keys = unwrapAllKeys([copy, today], masterKeyFileOf(gallery))
  for (const face of facesOf(today)) assert.ok(isReadable(face, keys), 'today')
  const nameOf = ({ faceId, modelId }: { faceId: string; modelId?: string }) =>
    `${faceId} ${modelId ?? 'crop'}`
  const names = new Set(facesOf(today).map(nameOf))
  for (const face of facesOf(copy))
    if (!names.has(nameOf(face))) assert.ok(!isReadable(face, keys), `removed: ${nameOf(face)}`)
}

/** Asserts that each of the faces of a person still matches. */
async function assertFacesMatch(
  gallery: TestGallery,
  name: string,
  { subjectId, faceIds }: { subjectId: string | undefined; faceIds: readonly string[] },
): Promise<void> {
  for (const [take, faceId] of faceIds.entries()) {
    const image = imageParams({ name, deviation: 0.3, take })
    const verified = await gallery.value('svc.verify', { ...image, subjectId })
    assert.equal(verified.faceId, faceId)
    assert.ok(verified.similarity > 0.95, `${verified.similarity}`)
    const { bestMatch } = await gallery.value('svc.identify', image)
    assert.deepEqual([bestMatch.faceId, bestMatch.similarity], [faceId, verified.similarity])
  }
}

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
  const { dataDir } = gallery
  await runJson(dataDir, project, 'set default --store-crops on')
  const { subjectId, faceIds } = await enrollFaces(gallery, 'Ann', 3)
  const ben = await enrollFaces(gallery, 'Ben', 1)
  const removedId = faceIds.pop()
  const copy = await copyOf(gallery)
  const removed = facesOf(copy).filter(({ faceId }) => faceId === removedId)
  assert.equal(removed.length, 2, 'a template and a crop')

  await gallery.value('svc.updateSubject', { subjectId, removeFaceIds: [removedId] })
  const keysBefore = unwrapAllKeys([copy, await copyOf(gallery)], masterKeyFileOf(gallery))
  for (const face of removed) assert.ok(isReadable(face, keysBefore), 'before the rotation')

  const rotated = await runJson(dataDir, keyCommands, 'rotate-master')
  assert.deepEqual(rotated, { galleries: 1, subjects: 2, renewed: 1, unreadable: 0 })
  await assertOnlyTodayIsReadable(gallery, copy)
  assert.equal(facesOf(await copyOf(gallery)).length, 6)
  await assertFacesMatch(gallery, 'Ann', { subjectId, faceIds })
  await assertFacesMatch(gallery, 'Ben', ben)
  const again = await runJson(dataDir, keyCommands, 'rotate-master')
  assert.equal(again.renewed, 0, 'without a further removal, the key is kept')
})

test('Templates of a retired model and crops of a project that stores none any more become unreadable too', async () => {
  const dataDir = await mkdtemp(path.join(tmpdir(), 'facegate-removed-'))
  const [former, active] = ['people@1', 'people@2']
  let key: string
  {
    await using gallery = await startGallery({ dataDir, models: { active: former } })
    key = gallery.key
    await runJson(dataDir, project, 'set default --store-crops on')
    await enrollFaces(gallery, 'Ann', 2)
  }
  {
    await using gallery = await startGallery({ dataDir, key, models: { active, former: [former] } })
    assert.deepEqual(await gallery.openedGallery.reEmbedding, { succeeded: 2, failed: 0 })
    const { store } = gallery.database
    const withFormer = await copyOf(gallery)
    assert.equal(withFormer.templates.length, 4)
    const retirement = { modelId: former, activeModelId: active }
    const retired = await retireTemplates(store, retirement)
    assert.deepEqual(retired, { templates: 2, faces: 0 })
    assert.equal((await runJson(dataDir, keyCommands, 'rotate-master')).renewed, 1)
    await assertOnlyTodayIsReadable(gallery, withFormer)

    const withCrops = await copyOf(gallery)
    assert.equal(withCrops.crops.length, 2)
    await runJson(dataDir, project, 'set default --store-crops off')
    assert.equal((await runJson(dataDir, keyCommands, 'rotate-master')).renewed, 1)
    await assertOnlyTodayIsReadable(gallery, withCrops)
    const found = await gallery.value('svc.identify', imageParams('Ann'))
    assert.equal(found.matched, true)
  }
  await rm(dataDir, { recursive: true })
})

test(
  'A kill before a commit of a rotation loses no face, and the next rotation continues',
  { skip },
  async () => {
    await using gallery = await startGallery()
    const { dataDir } = gallery
    await runJson(dataDir, project, 'set default --store-crops on')
    const { subjectId, faceIds } = await enrollFaces(gallery, 'Ann', 3)
    const ben = await enrollFaces(gallery, 'Ben', 2)
    const copy = await copyOf(gallery)
    await gallery.value('svc.updateSubject', { subjectId, removeFaceIds: [faceIds.pop()] })
    // The first rotation has seven commits; the second one replaces the ciphertexts of the subject.
    for (const commit of [1, 2, 4, 7]) {
      assert.equal(await rotateAndKill(gallery, commit), 'SIGKILL')
      await assertFacesMatch(gallery, 'Ann', { subjectId, faceIds })
    }
    await runJson(dataDir, keyCommands, 'rotate-master')
    await assertOnlyTodayIsReadable(gallery, copy)
    await assertFacesMatch(gallery, 'Ann', { subjectId, faceIds })
    await assertFacesMatch(gallery, 'Ben', ben)
  },
)

/** Rotates the keys in a process that kills itself before a commit. @returns its last signal. */
async function rotateAndKill(gallery: TestGallery, commit: number): Promise<string | null> {
  const { dataDir } = gallery
  const { DATABASE_URL: url = '' } = await databaseSettings(dataDir)
  const script = path.join(import.meta.dirname, '../support/gallery/rotation-process.ts')
  const args = [script, dataDir, url, masterKeyFileOf(gallery), String(commit)]
  const child = spawn(process.execPath, args, { stdio: ['ignore', 'inherit', 'inherit'] })
  const [, signal] = (await once(child, 'exit')) as [number | null, string | null]
  return signal
}

test(
  'Enrollments and removals during rotations keep all faces, and every removal takes effect',
  { skip },
  async () => {
    const lines: string[] = []
    const log = pino({ level: 'error' }, { write: (line: string) => void lines.push(line) })
    await using gallery = await startGallery({ log })
    const { dataDir } = gallery
    const names = ['Ann', 'Ben', 'Cid', 'Dan']
    const enrolled = await Promise.all(names.map((name) => enrollFaces(gallery, name, 2)))
    const copy = await copyOf(gallery)
    const changes = enrolled.map(async ({ subjectId, faceIds }, index) => {
      for (let take = 2; take < 5; take++) {
        const image = imageParams({ name: names[index] ?? '', deviation: 0.3, take })
        const update = { ...image, subjectId, removeFaceIds: [faceIds.at(-1)] }
        await gallery.value('svc.updateSubject', update)
        const verified = await gallery.value('svc.verify', { ...image, subjectId })
        assert.ok(verified.similarity > 0.95, `${verified.similarity}`)
        faceIds[faceIds.length - 1] = verified.faceId
        await gallery.value('svc.enroll', imageParams(`${names[index]} ${take}`))
      }
    })
    const done = Promise.all(changes)
    for (let rotations = 0; rotations < 4; rotations++)
      await runJson(dataDir, keyCommands, 'rotate-master')
    await done
    await runJson(dataDir, keyCommands, 'rotate-master')
    await assertOnlyTodayIsReadable(gallery, copy)
    for (const [index, { subjectId, faceIds }] of enrolled.entries()) {
      const last = imageParams({ name: names[index] ?? '', deviation: 0.3, take: 4 })
      const verified = await gallery.value('svc.verify', { ...last, subjectId })
      assert.equal(verified.faceId, faceIds[1])
      assert.ok(verified.similarity > 0.95, `${verified.similarity}`)
    }
    assert.deepEqual(lines, [], 'no ciphertext was reported as changed')
  },
)

test('A changed ciphertext does not stop a rotation, and is reported', async () => {
  await using gallery = await startGallery()
  const { dataDir, database } = gallery
  const { subjectId, faceIds } = await enrollFaces(gallery, 'Ann', 3)
  const [changedId = '', keptId] = faceIds
  await gallery.value('svc.updateSubject', { subjectId, removeFaceIds: [faceIds[2]] })
  await database.store.db
    .updateTable('templates')
    .set({ ciphertext: Buffer.alloc(100) })
    .where('faceId', '=', changedId)
    .execute()
  const rotated = await runJson(dataDir, keyCommands, 'rotate-master')
  assert.deepEqual([rotated.renewed, rotated.unreadable], [1, 1])
  const image = imageParams({ name: 'Ann', deviation: 0.3, take: 1 })
  const verified = await gallery.value('svc.verify', { ...image, subjectId })
  assert.deepEqual([verified.faceId, verified.similarity], [keptId, 1])
})
