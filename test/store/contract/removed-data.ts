import assert from 'node:assert/strict'
import type { ReadTx } from '../../../src/store/database.ts'
import type { StoredMatchRow } from '../../../src/store/gallery-schema.ts'
import { recordDeletions } from '../../support/database/record-redactions.ts'
import { queries } from './tracked-queries.ts'
import {
  assertSameValues,
  createProjectGallery,
  enrollSubject,
  now,
  nowMs,
  nowUtc,
  type StoreFixture,
} from './store-fixture.ts'

const ciphertext = Buffer.from('ciphertext')

const mebibyte = 1024 * 1024

export const removedDataContract = {
  'a batch has at most 500 rows and 2 MiB of their large values, or one larger row': async ({
    store,
    project: { projectId },
    keyId,
  }: StoreFixture) => {
    const call = { projectId, keyId, action: 'svc.detect', fingerprint: Buffer.alloc(32) }
    const terms = {
      token: 't',
      reservedMicros: 0n,
      deadlineMs: 0,
      state: 'done',
      code: 'OK',
    } as const
    let added = 0
    /** Adds attempts, each a millisecond after the one before, with these bytes in two responses. */
    const add = (sizes: readonly number[]) =>
      store.write(async (tx) => {
        for (const bytes of sizes) {
          added += 1
          const ids = { requestId: `r${added}`, windowStartMs: nowMs + added }
          const response = Buffer.alloc(Math.ceil(bytes / 2), 1)
          const scrubbed = Buffer.alloc(Math.floor(bytes / 2), 1)
          const row = { ...call, ...terms, ...ids, response, scrubbed }
          await tx.run(tx.build.insertInto('attempts').values(row))
        }
      })
    const remove = () => store.write((tx) => queries.deleteExpiredAttempts(tx, nowMs + added))
    const countsOf = async (change: () => Promise<number>) => {
      const counts = [await change()]
      while (counts.at(-1) !== 0) counts.push(await change())
      return counts
    }
    await add(Array.from({ length: 501 }, () => 0))
    assertSameValues(await countsOf(remove), [500, 1, 0])
    await add([mebibyte, mebibyte, 1])
    assertSameValues(await countsOf(remove), [2, 1, 0])
    await add([2 * mebibyte + 1, 1, 1])
    assertSameValues(await countsOf(remove), [1, 2, 0])
    await add([1, 1, 2 * mebibyte])
    assertSameValues(await countsOf(remove), [2, 1, 0])

    const drop = () => store.write((tx) => queries.dropResponses(tx, projectId, nowMs + added))
    await add([mebibyte, mebibyte + 1, 1])
    assertSameValues(await countsOf(drop), [1, 2, 0])
    const removeAll = () =>
      store.write((tx) => queries.deleteProjectRows(tx, 'attempts', projectId))
    assertSameValues(await countsOf(removeAll), [3, 0], 'without their responses')
    await add([3 * mebibyte, 3 * mebibyte])
    assertSameValues(await countsOf(removeAll), [1, 1, 0])
    assert.equal(await store.read((tx) => queries.hasRemainingRows(tx, projectId)), false)
  },

  'a batch of calls ends with the call that has the 500th subject of their responses': async ({
    store,
    project: { projectId },
    keyId,
  }: StoreFixture) => {
    const call = { projectId, keyId, action: 'svc.identify', fingerprint: Buffer.alloc(32) }
    const done = { state: 'done', code: 'OK', token: 't', reservedMicros: 0n } as const
    for (const [index, names] of [250, 250, 1, 0, 499, 1000].entries())
      await store.write(async ({ build, run }) => {
        const ids = { projectId, requestId: `r${index}` }
        const times = { deadlineMs: 0, windowStartMs: nowMs + index }
        await run(build.insertInto('attempts').values({ ...call, ...done, ...times, ...ids }))
        if (names === 0) return
        const rows = Array.from({ length: names }, (_, subject) => ({
          ...ids,
          subjectId: `s-${subject}`,
        }))
        await run(build.insertInto('responseSubjects').values(rows))
      })
    const remove = () => store.write((tx) => queries.deleteExpiredAttempts(tx, nowMs + 9))
    const counts = [await remove(), await remove(), await remove(), await remove()]
    assertSameValues(counts, [2, 3, 1, 0])
  },

  'the counted verdicts of a subject are deleted in batches, and those that have an effect are not':
    async (fixture: StoreFixture) => {
      const { store, project } = fixture
      const { projectId } = project
      await createProjectGallery(fixture)
      await enrollSubject(fixture, 's-1')
      const call = { projectId, galleryId: projectId, matchedId: 's-1', modelId: 'active' }
      const times = { matchedAtMs: nowMs, expiresAtMs: null, resultIndex: 0, faceIndex: 0 }
      const row = { ...call, ...times, ciphertext: null, verdict: 'confirmed' } as const
      const rows: StoredMatchRow[] = Array.from({ length: 600 }, (_, index) => {
        return { ...row, requestId: `call-${index}`, verdictId: `v-${index}` }
      })
      const denial = { requestId: 'denied', verdictId: 'denied', verdict: 'denied' } as const
      rows.push({ ...row, ...denial, ciphertext })
      await store.write(async ({ build, run }) => {
        const matched = { matchedId: 's-1', subjectId: 's-1', galleryId: projectId }
        await run(build.insertInto('matchedSubjects').values(matched))
        await run(build.insertInto('matchVerdicts').values(rows))
      })
      const batches: number[] = []
      using _recording = recordDeletions('matchVerdicts', (count) => batches.push(count))
      await store.write((tx) => queries.removeCountedVerdicts(tx, 's-1'))
      assertSameValues(batches, [500, 500, 100], 'the first one is rolled back')
      const kept = await store.read((tx) => queries.findSubjectMatches(tx, 's-1'))
      assertSameValues(
        kept.map(({ verdictId }) => verdictId),
        ['denied'],
      )
    },

  'subjects with removed data are marked until their key is replaced': async (
    fixture: StoreFixture,
  ) => {
    const { store, project } = fixture
    const galleryId = project.projectId
    await createProjectGallery(fixture)
    await enrollSubject(fixture, 'kept')
    const { faceId } = await enrollSubject(fixture, 'removed from')
    const { projectId } = project
    const marked = () =>
      store.read(async (tx) => {
        const galleryIds = await queries.listGalleriesNeedingKeys(tx)
        const subjects = await queries.findSubjectsNeedingKey(tx, galleryId, 9)
        return [...galleryIds, ...subjects.map(({ subjectId }) => subjectId)]
      })
    assertSameValues(await marked(), [], 'a new subject has a new key')
    await store.write(async (tx) => {
      await queries.addCrop(tx, { faceId, projectId, ciphertext })
      await queries.markForNewKey(tx, [])
      await queries.markForNewKey(tx, [faceId, 'none'])
    })
    assertSameValues(await marked(), [galleryId, 'removed from'])
    const replacement = Buffer.from('another ciphertext')
    await store.write(async (tx) => {
      const key = { keyId: 'wrapping', wrappedKey: replacement }
      await queries.replaceSubjectKey(tx, 'removed from', key)
      await queries.replaceCropCiphertext(tx, { faceId, ciphertext: replacement, isNearMiss: 0 })
      await queries.replaceTemplateCiphertext(tx, {
        galleryId,
        faceId,
        modelId: 'active',
        ciphertext: replacement,
      })
    })
    assertSameValues(await marked(), [])
    await store.read(async (tx) => {
      const [template] = await queries.findSubjectTemplates(tx, ['removed from'])
      const [crop, ...others] = await queries.findSubjectCrops(tx, 'removed from')
      assert.equal(others.length, 0)
      for (const bytes of [template?.ciphertext, template?.wrappedKey, crop?.ciphertext])
        assertSameValues(Buffer.from(bytes ?? []), replacement)
      assert.equal((await queries.findSubjectCrops(tx, 'kept')).length, 0)
    })
  },
  'the faces of a subject are moved to another one, and the change is found': async (
    fixture: StoreFixture,
  ) => {
    const { store, project } = fixture
    const galleryId = project.projectId
    await createProjectGallery(fixture)
    const kept = await enrollSubject(fixture, 'target')
    const moved = await enrollSubject(fixture, 'source')
    const sequence = await store.write(async (tx) => {
      const change = await queries.recordGalleryChange(tx, { galleryId })
      await queries.moveFaces(tx, {
        galleryId,
        fromSubjectId: 'source',
        toSubjectId: 'target',
        sequence: change,
      })
      await queries.removeSubject(tx, 'source')
      return change
    })
    await store.read(async (tx) => {
      const faces = await queries.findSubjectFaces(tx, 'target')
      assertSameValues(
        faces.map(({ faceId }) => faceId).toSorted(),
        [kept.faceId, moved.faceId].toSorted(),
      )
      assertSameValues(
        faces.map((face) => face.sequence),
        [sequence, sequence],
      )
      const after = { sequence: sequence - 1, subjectId: queries.afterAllSubjectIds }
      const { subjects } = await queries.findSubjectChanges(tx, galleryId, after, 9)
      assertSameValues(
        subjects.map(({ subjectId, templates }) => [subjectId, templates.length]),
        [
          ['source', 0],
          ['target', 2],
        ],
      )
    })
  },
  'one face of several is moved, and a renamed group marks the faces of its subjects': async (
    fixture: StoreFixture,
  ) => {
    const { store, project } = fixture
    const galleryId = project.projectId
    await createProjectGallery(fixture)
    const [source, target] = ['source', 'target']
    const first = await enrollSubject(fixture, source)
    const second = await enrollSubject(fixture, 'other')
    await enrollSubject(fixture, target)
    await store.write(async (tx) => {
      const sequence = await queries.recordGalleryChange(tx, { galleryId })
      const toSource = { galleryId, fromSubjectId: 'other', toSubjectId: source, sequence }
      await queries.moveFaces(tx, toSource)
      const faceIds = [first.faceId]
      const toTarget = { ...toSource, fromSubjectId: source, toSubjectId: target, faceIds }
      await queries.moveFaces(tx, toTarget)
      await queries.addGroups(tx, { galleryId, subjectId: target }, ['day'])
      const renaming = { galleryId, name: 'day', newName: 'night' }
      const nowUtc = '2030-01-01T00:00:00.000Z'
      const change = await queries.recordGalleryChange(tx, { galleryId })
      await queries.renameGroupOfSubjects(tx, { ...renaming, sequence: change, nowUtc })
    })
    await store.read(async (tx) => {
      const ids = [first.faceId, second.faceId, 'unknown']
      const owners = await queries.findFaceOwners(tx, galleryId, ids)
      const subjects = new Map(owners.map(({ faceId, subjectId }) => [faceId, subjectId]))
      const { faceId: firstId } = first
      assertSameValues([subjects.get(firstId), subjects.get(second.faceId)], [target, source])
      assertSameValues(subjects.size, 2)
      assertSameValues(await queries.findFaceOwners(tx, 'another gallery', ids), [])
      const groups = await queries.findSubjectGroups(tx, [target])
      assertSameValues(groups.get(target), ['night'])
      const faces = await queries.findSubjectFaces(tx, target)
      const sequence = (await queries.findGallery(tx, galleryId))?.sequence
      assertSameValues(
        faces.map((face) => face.sequence),
        [sequence, sequence],
      )
    })
  },

  'a deleted project has no access, is only in lists of history, and its name is available':
    async ({ store, accountId, project, key, keyId }: StoreFixture) => {
      const { projectId, name } = project
      const keysOf = (tx: ReadTx) => queries.findKeys(tx, { accountId, now, limit: 9 })
      await store.read(async (tx) => {
        assert.equal((await keysOf(tx)).length, 1)
      })
      const times = { token: 't', reservedMicros: 0n, deadlineMs: nowMs, windowStartMs: nowMs }
      const fingerprint = Buffer.alloc(32)
      const attempt = { projectId, keyId, action: 'svc.detect', fingerprint, ...times }
      await store.write(async (tx) => {
        for (const requestId of ['done', 'also done', 'running'])
          await tx.attempts.insert({ ...attempt, requestId })
        const completed = { state: 'done', code: 'OK', reservedMicros: 0n } as const
        const done = tx.build.updateTable('attempts').set(completed)
        await tx.run(done.where('requestId', 'in', ['done', 'also done']))
        const remove = () => queries.deleteProjectRows(tx, 'attempts', projectId)
        assertSameValues([await remove(), await remove()], [2, 0])
        assert.equal(await queries.hasRemainingRows(tx, projectId), true)
        await tx.attempts.delete({ projectId, requestId: 'running' })
        assert.equal(await queries.hasRemainingRows(tx, projectId), false)
      })
      await store.runExclusive(async ({ db }) => {
        await queries.endAccess(db, projectId, nowUtc)
        await queries.markDeleted(db, project, nowUtc)
        await queries.markDeleted(db, project, new Date(nowMs + 1).toISOString())
      })
      assert.equal((await store.findKey(key, now))?.state, 'revoked')
      const newName = `${name} (deleted ${nowUtc})`
      assert.equal((await queries.findProject(store.db, projectId))?.deletedAtUtc, nowUtc)
      assert.equal(await store.read((tx) => queries.isDeleted(tx, projectId)), true)
      assert.equal(await store.read((tx) => queries.isDeleted(tx, 'none')), false)
      assert.equal((await queries.findProject(store.db, newName))?.projectId, projectId)
      assertSameValues(await queries.listProjects(store.db), [])
      assertSameValues(await queries.listKeys(store.db, undefined, now), [])
      assert.equal((await queries.projectNames(store.db)).get(projectId), newName)
      await store.read(async (tx) => {
        assertSameValues(await keysOf(tx), [])
        assertSameValues(await queries.findProjectSummaries(tx, accountId), [])
        const [found] = await queries.findProjectNames(tx, accountId)
        assertSameValues([found?.name, found?.galleryId], [newName, projectId])
      })
      const again = { accountId, name, galleryMode: 'isolated' } as const
      await store.runExclusive(({ db }) => queries.createProject(db, again, now))
    },
}
