import assert from 'node:assert/strict'
import path from 'node:path'
import { test } from 'node:test'
import { subjectCommands } from '../../../src/cli/subject/commands.ts'
import { project as projectCommands } from '../../../src/cli/tenancy/commands.ts'
import { rotateKeys } from '../../../src/gallery/keys/rotate-keys.ts'
import { mapSequential, runAsAllAccounts } from '../../../src/lib/account-context.ts'
import { dayMs } from '../../../src/lib/clock.ts'
import type { Store } from '../../../src/store/database.ts'
import { batchBytes } from '../../../src/store/delete-in-batches.ts'
import { addNearMissCrop } from '../../../src/store/gallery/feedback/near-miss-crops.ts'
import {
  findSubjectMatches,
  undecidedPerSubjectMax,
} from '../../../src/store/gallery/feedback/match-verdicts.ts'
import { createLineRunner, runJson } from '../../support/cli/run-json.ts'
import { recordChanges } from '../../support/database/record-changes.ts'
import { recordDeletions } from '../../support/database/record-redactions.ts'
import { addConfirmedMatches, addMatches, enrollPerson } from '../../support/gallery/feedback.ts'
import {
  imageParams,
  startGallery,
  type GalleryClient,
} from '../../support/gallery/test-gallery.ts'

/** Enrolls people of a group, and stores more than half of the limit of matches for two of them. */
async function fillSubjects(store: Store, client: GalleryClient, projectId: string) {
  const names = ['Ann', 'Bea', 'Cleo', 'Dora']
  const groups = { groups: ['members'] }
  const ids = await Promise.all(names.map((name) => enrollPerson(client, name, groups)))
  for (const subjectId of ids.toSorted().slice(0, 2)) {
    const subject = { projectId, galleryId: projectId, subjectId }
    await addMatches(store, subject, undecidedPerSubjectMax / 2 + 1)
  }
}

test('A transaction of a group deletion or of a key rotation has a limited number of matches', async () => {
  const changes: number[] = []
  await using gallery = await startGallery({
    wrapStore: (store) => recordChanges(store, 'true', changes),
  })
  const { store } = gallery.database
  const client = await gallery.createProjectClient({ galleryMode: 'isolated' })
  const { projectId } = client.project
  await fillSubjects(store, client, projectId)
  const { body } = await client.rest('DELETE', '/v1/groups/members')
  assert.equal(body.deletedCount, 4)
  assert.ok(changes.length >= 2 && Math.max(...changes) <= 3, changes.join())

  await fillSubjects(store, client, projectId)
  await store.db.updateTable('subjects').set({ needsNewKey: 1 }).execute()
  changes.length = 0
  const rotated = recordChanges(store, '"needsNewKey" = 1', changes)
  const masterKeyFile = path.join(gallery.dataDir, 'master.key')
  const { renewed } = await runAsAllAccounts(() =>
    rotateKeys({ store: rotated, masterKeyFile, nowMs: Date.now }),
  )
  assert.equal(renewed, 4)
  assert.ok(changes.length >= 3, changes.join())
  const { matched } = await client.value('svc.identify', imageParams('Ann'))
  assert.equal(matched, true)
})

test('The deletion of a project deletes its confirmed matches in a shared gallery in batches', async () => {
  await using gallery = await startGallery()
  const { project } = await gallery.createProjectClient({ galleryMode: 'shared' })
  const { projectId } = project
  const subjectId = await enrollPerson(gallery, 'Ann')
  await addConfirmedMatches(gallery.database.store, { projectId, subjectId }, 600)
  const batches: number[] = []
  using _recording = recordDeletions('matchVerdicts', (count) => batches.push(count))
  await runJson(gallery.dataDir, projectCommands, `delete ${projectId} --yes`)
  assert.deepEqual(batches, [500, 100])
})

test('The deletion of a subject deletes its confirmed matches in batches before it', async () => {
  await using gallery = await startGallery()
  const { project, ...client } = await gallery.createProjectClient({ galleryMode: 'isolated' })
  const { projectId } = project
  const subjectId = await enrollPerson(client, 'Ann')
  await addConfirmedMatches(gallery.database.store, { projectId, subjectId }, 600)
  const batches: number[] = []
  using _recording = recordDeletions('matchVerdicts', (count) => batches.push(count))
  await client.value('svc.deleteSubject', { subjectId })
  assert.deepEqual(batches, [500, 500, 100], 'the first one is rolled back')
  assert.equal(await client.code('svc.deleteSubject', { subjectId }), 'SUBJECT_NOT_FOUND')
})

test('The deletion of a subject deletes many pictures of near misses in batches before it', async () => {
  await using gallery = await startGallery()
  const { store } = gallery.database
  const { project, ...client } = await gallery.createProjectClient({ galleryMode: 'isolated' })
  const { projectId } = project
  const addCrops = (subjectId: string, count: number) =>
    store.write(async (tx) => {
      for (let index = 0; index < count; index++)
        await addNearMissCrop(tx, {
          cropId: `${subjectId} ${index}`,
          projectId,
          subjectId,
          requestId: `call-${index}`,
          storedAtMs: index,
          expiresAtMs: Date.now() + dayMs,
          ciphertext: Buffer.alloc(batchBytes / 2),
        })
    })
  const few = await enrollPerson(client, 'Ann')
  const many = await enrollPerson(client, 'Bea')
  await addCrops(few, 2)
  await addCrops(many, 5)
  const batches: number[] = []
  using _recording = recordDeletions('nearMissCrops', (count) => batches.push(count))
  await client.value('svc.deleteSubject', { subjectId: many })
  assert.deepEqual([...batches], [2, 2, 1])
  const subjectIds = async () => {
    const crops = await store.db.selectFrom('nearMissCrops').select('subjectId').execute()
    return crops.map(({ subjectId }) => subjectId)
  }
  assert.deepEqual(await subjectIds(), [few, few])
  await client.value('svc.deleteSubject', { subjectId: few })
  assert.deepEqual(batches, [2, 2, 1], 'one batch is deleted with its subject')
  assert.deepEqual(await subjectIds(), [])
})

test('Merges and their undo change no row of a decided match, and its subject has it until its deletion', async () => {
  await using gallery = await startGallery()
  const { dataDir, database } = gallery
  const { store } = database
  const { project, ...client } = await gallery.createProjectClient({ galleryMode: 'isolated' })
  const { projectId } = project
  const { runForJson } = createLineRunner([subjectCommands], () => dataDir)
  const rows = () => store.db.selectFrom('matchVerdicts').selectAll().orderBy('verdictId').execute()
  const counts = (...subjectIds: readonly string[]) =>
    mapSequential(subjectIds, async (subjectId) => {
      const found = await store.read((tx) => findSubjectMatches(tx, subjectId))
      return found.length
    })
  const merge = async (subjectId: string, into: string): Promise<string> =>
    (await runForJson(`subject merge ${subjectId} --into ${into} --project ${projectId}`)).mergeId
  const undo = async (mergeId: string): Promise<string> =>
    (await runForJson(`subject unmerge ${mergeId} --project ${projectId}`)).subjectId
  const first = await enrollPerson(client, 'Ann')
  const second = await enrollPerson(client, 'Bea')
  const third = await enrollPerson(client, 'Cleo')
  await addConfirmedMatches(store, { projectId, subjectId: first }, 3)
  await addConfirmedMatches(store, { projectId, subjectId: second }, 2)
  const stored = await rows()
  await addMatches(store, { projectId, galleryId: projectId, subjectId: second }, 1)
  await merge(first, second)
  assert.deepEqual(await counts(second), [6], 'with the undecided match')
  const mergeId = await merge(second, third)
  assert.deepEqual(await rows(), stored, 'after the merges')
  await addConfirmedMatches(store, { projectId, subjectId: third }, 1)
  assert.deepEqual(await counts(third), [6])
  const returned = await undo(mergeId)
  assert.deepEqual(await counts(returned, third), [5, 1])
  const again = await merge(returned, third)
  assert.deepEqual(await counts(third), [6])
  const separate = await undo(again)
  await client.value('svc.deleteSubject', { subjectId: third })
  assert.deepEqual(await rows(), stored, 'after the undo and the deletion of the other subject')
  assert.deepEqual(await counts(separate), [5])
  await client.value('svc.deleteSubject', { subjectId: separate })
  const matched = await store.db.selectFrom('matchedSubjects').selectAll().execute()
  assert.deepEqual([await rows(), matched], [[], []])
})
