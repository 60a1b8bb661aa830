import assert from 'node:assert/strict'
import { withFewRows } from '../../../src/store/delete-in-batches.ts'
import { chargeCall } from '../../support/billing/charge-call.ts'
import { queries } from './tracked-queries.ts'
import {
  compareNullable,
  enrollSubject,
  createProjectGallery,
  now,
  nowUtc,
  assertSameValues,
  type StoreFixture,
} from './store-fixture.ts'

const ciphertext = Buffer.from('ciphertext')
const pastUtc = (day: number): string => new Date(Date.UTC(2026, 0, day)).toISOString()

export const keysAndDeletionsContract = {
  'a gallery key cannot be deleted while it encrypts a subject key': async (
    fixture: StoreFixture,
  ) => {
    const { store, project } = fixture
    const galleryId = project.projectId
    await createProjectGallery(fixture)
    await enrollSubject(fixture, 's1')
    const newer = {
      galleryId,
      masterKeyId: 'master',
      wrapped: ciphertext,
      createdAtMs: now.getTime() + 1,
    }
    await store.write((tx) => queries.addGalleryKey(tx, { ...newer, keyId: 'newer' }))
    await store.read(async (tx) => {
      assert.equal((await queries.findNewestGalleryKey(tx, galleryId))?.keyId, 'newer')
      assert.equal((await queries.findGalleryKey(tx, 'newer'))?.createdAtMs, newer.createdAtMs)
      assert.equal((await queries.listGalleryKeys(tx)).length, 2)
    })
    for (const id of ['older', 'newer'])
      await store.write((tx) => queries.storeCurrentMasterKeyId(tx, id))
    assert.equal(await store.read(queries.findCurrentMasterKeyId), 'newer')
    await assert.rejects(
      store.write((tx) => queries.removeGalleryKey(tx, 'wrapping')),
      /foreign key/iu,
    )
    await store.write((tx) => queries.removeGalleryKey(tx, 'newer'))
    assert.equal((await store.read(queries.listGalleryKeys)).length, 1)
  },

  'deletion records form a hash chain and cannot be changed': async (fixture: StoreFixture) => {
    const { store, accountId, project } = fixture
    const add = (number: number) =>
      store.write((tx) =>
        queries.addDeletion(
          tx,
          { galleryId: 'gallery', mergedInto: null, formerIds: '[]' },
          {
            deletionId: `d${number}`,
            subjectId: `s${number}`,
            tenantId: accountId,
            groups: ['a', 'b'],
            externalId: number % 2 ? 'odd' : null,
            embeddingCount: number,
            deletedAtUtc: pastUtc(number),
          },
        ),
      )
    await Promise.all([1, 2, 3, 4, 5, 6].map(add))
    assertSameValues(await queries.findBrokenDeletions(store.db), [])
    await store.read(async (tx) => {
      assertSameValues(await queries.accountsWithDeletions(tx), [accountId])
      const [oldest, ...others] = await queries.deletionsAfter(tx, accountId, undefined, 9)
      assertSameValues(others, await queries.deletionsAfter(tx, accountId, oldest?.deletionId, 9))
      assert.equal(others.length, 5)
      await assert.rejects(queries.deletionsAfter(tx, accountId, 'none', 9), /no deletion record/u)
      assert.ok(oldest)
      assertSameValues(await queries.findChainedDeletion(tx, oldest), oldest)
      const foreign = { ...oldest, accountId: 'other' }
      assert.equal(await queries.findChainedDeletion(tx, foreign), undefined)
      const recorded = { deletionId: 'another', subjectId: 's1', mergedInto: null }
      const alive = { ...recorded, subjectId: 'alive' }
      const merged = { ...recorded, mergedInto: 's2' }
      const missing = await queries.missingDeletions(tx, [recorded, alive, merged])
      assertSameValues(missing, [alive, merged])
      const known = [{ ...merged, deletionId: oldest.deletionId }]
      assertSameValues(await queries.missingDeletions(tx, known), [])
      const find = async (filter: object) =>
        (await queries.findDeletions(tx, { galleryId: 'gallery', limit: 9, ...filter })).map(
          ({ record }) => record.embeddingCount,
        )
      assertSameValues((await find({})).toSorted(compareNullable), [1, 2, 3, 4, 5, 6])
      assertSameValues((await find({ externalId: 'odd' })).toSorted(compareNullable), [1, 3, 5])
      assertSameValues(
        (await find({ fromUtc: pastUtc(2), toUtc: pastUtc(4) })).toSorted(compareNullable),
        [2, 3],
      )
      assertSameValues(await find({ subjectId: 'S4' }), [4])
      const [first, second] = await queries.findDeletions(tx, {
        galleryId: 'gallery',
        limit: 2,
      })
      assert.ok(first && second)
      assertSameValues(await find({}), [6, 5, 4, 3, 2, 1]) // The newest first.
      const period = { fromUtc: pastUtc(2), toUtc: pastUtc(6) }
      for (const filter of [{}, period]) {
        const older = await find({ ...filter, after: second.position })
        assertSameValues(older, 'toUtc' in filter ? [4, 3, 2] : [4, 3, 2, 1])
        const newer = await find({ ...filter, isAscending: true, after: second.position })
        assertSameValues(newer, 'toUtc' in filter ? [] : [6])
      }
      // A cursor of a page without a period may be outside of it.
      assertSameValues(await find({ ...period, after: first.position }), [5, 4, 3, 2])
      const counted = { total: 3, isCapped: false }
      const odd = { galleryId: 'gallery', externalId: 'odd' }
      assertSameValues(await queries.countDeletions(tx, odd), counted)
      assertSameValues(first.record.groups, ['a', 'b'])
    })
    await store.write((tx) =>
      queries.appendDeletion(tx, {
        deletionId: 'd7',
        galleryId: 'gallery',
        accountId,
        subjectId: 's7',
        mergedInto: 'target',
        formerIds: '[]',
        groups: '[]',
        externalId: null,
        embeddingCount: 7,
        deletedAtUtc: pastUtc(7),
      }),
    )
    assertSameValues(await queries.findBrokenDeletions(store.db), [])
    await createProjectGallery(fixture)
    await enrollSubject(fixture, 'target', { formerIds: '["s7"]' })
    const merge = {
      subjectId: 'target',
      galleryId: project.projectId,
      memberships: '{}',
      ciphertext,
    }
    const merges = [7, 8].map((day) => {
      const mergedAtMs = Date.parse(pastUtc(day))
      return { ...merge, mergeId: `m${day}`, mergedAtMs, expiresAtMs: mergedAtMs + 1 }
    })
    await store.db.insertInto('subjectMerges').values(merges).execute()
    const found = await store.read((tx) => queries.findMergesOfDeleted(tx, ['s6', 's7', 'target']))
    const deletedAtUtc = pastUtc(7)
    const times = { deletedAtUtc, mergedAtMs: Date.parse(deletedAtUtc) }
    assertSameValues(found, [{ subjectId: 's7', formerIds: '["s7"]', mergeId: 'm7', ...times }])
    const update = store.db.updateTable('deletions').set({ groups: '[]' }).execute()
    await assert.rejects(update, /deletion records are|append-only/u)
  },

  'a stored response that names a deleted subject is replaced': async (fixture: StoreFixture) => {
    const { store, project, keyId } = fixture
    const { projectId } = project
    const times = { nowMs: now.getTime(), windowStartMs: now.getTime() }
    const call = { projectId, keyId, action: 'svc.identify', ...times, amountMicros: 0n }
    await store.write(async (tx) => {
      for (const requestId of ['r1', 'r2'])
        await chargeCall(
          tx,
          { ...call, requestId },
          {
            response: Buffer.from('names s1'),
            scrubbed: requestId === 'r1' ? Buffer.from('no names') : null,
            subjectIds: ['s1', 's1', 's2'],
          },
        )
      await queries.scrubResponses(tx, 's1')
    })
    const responses = await store.db
      .selectFrom('attempts')
      .select(['response', 'scrubbed'])
      .orderBy('requestId')
      .execute()
    assertSameValues(
      responses.map((row) => [Buffer.from(row.response ?? []).toString(), row.scrubbed]),
      [
        ['no names', null],
        ['names s1', null],
      ],
    )
    // Both responses of 8 bytes began at the same time.
    assert.equal(await queries.findExcess(store, projectId, 16), undefined)
    assert.equal(await queries.findExcess(store, projectId, 15), now.getTime())
    await store.read(async (tx) => {
      assertSameValues(await queries.findAttemptStatus(tx, { projectId, requestId: 'R1' }), {
        state: 'done',
        startedAtUtc: nowUtc,
        isResponseStored: true,
      })
      assert.equal(await queries.findAttemptStatus(tx, { projectId, requestId: 'r9' }), undefined)
    })
  },

  'many stored responses that name a subject are replaced in several transactions': async ({
    store,
    project,
    keyId,
  }: StoreFixture) => {
    const { projectId } = project
    const times = { nowMs: now.getTime(), windowStartMs: now.getTime() }
    const call = { projectId, keyId, action: 'svc.identify', ...times, amountMicros: 0n }
    const stored = { response: Buffer.from('names s1'), scrubbed: Buffer.from('no names') }
    await store.write(async (tx) => {
      for (let number = 0; number < 250; number++)
        await chargeCall(
          tx,
          { ...call, requestId: `r${number}` },
          { ...stored, subjectIds: ['s1', 's2'] },
        )
    })
    const countNamed = async (subjectId: string) => {
      const named = store.db.selectFrom('responseSubjects').select('requestId')
      return (await named.where('subjectId', '=', subjectId).execute()).length
    }
    let transactions = 0
    await store.write(async (tx) => {
      transactions += 1
      await queries.scrubResponses(tx, 's1')
    })
    assertSameValues([transactions, await countNamed('s1'), await countNamed('s2')], [2, 0, 250])
    const replaced = await store.db
      .selectFrom('attempts')
      .select('requestId')
      .where('scrubbed', 'is', null)
      .execute()
    assert.equal(replaced.length, 250)
    const otherError = new Error('another error')
    const failed = withFewRows(store.write, () => Promise.reject(otherError))
    await assert.rejects(failed, otherError)
  },

  'the oldest responses beyond the bytes of a project are found and dropped': async ({
    store,
    project,
    keyId,
  }: StoreFixture) => {
    const { projectId } = project
    const call = {
      projectId,
      keyId,
      action: 'svc.identify',
      nowMs: now.getTime(),
      amountMicros: 0n,
    }
    await store.write(async (tx) => {
      for (const windowStartMs of [1, 2, 3])
        await chargeCall(
          tx,
          { ...call, requestId: `b${windowStartMs}`, windowStartMs },
          { response: Buffer.alloc(10), scrubbed: Buffer.alloc(5), subjectIds: [] },
        )
    })
    const findExcess = (bytesMax: number) => queries.findExcess(store, projectId, bytesMax)
    assert.equal(await findExcess(45), undefined)
    assert.equal(await findExcess(44), 1)
    assert.equal(await findExcess(29), 2)
    const drop = () => store.write((tx) => queries.dropResponses(tx, projectId, 2))
    assert.deepEqual([await drop(), await drop()], [2, 0])
    assert.equal(await findExcess(15), undefined)
    const statusOf = (requestId: string) =>
      store.read((tx) => queries.findAttemptStatus(tx, { projectId, requestId }))
    assert.equal((await statusOf('b2'))?.isResponseStored, false)
    assert.equal((await statusOf('b3'))?.isResponseStored, true)
  },

  'the stored bytes of a project are exact beyond one step, and each step reads at most its rows':
    async ({ store, project: { projectId }, keyId }: StoreFixture) => {
      const other = { keyId, action: 'svc.detect', fingerprint: Buffer.alloc(32), token: 't' }
      const times = { reservedMicros: 0n, deadlineMs: 0, state: 'done', code: 'OK' } as const
      const values = { ...other, ...times, projectId, response: Buffer.alloc(10) }
      // The limit of a step is between two calls that began at the same time.
      const rows = Array.from({ length: 1040 }, (_, number) => ({
        ...values,
        requestId: `r${number}`,
        windowStartMs: 1000 + Math.floor((number + 1) / 2),
      }))
      for (let from = 0; from < rows.length; from += 400) {
        const part = rows.slice(from, from + 400)
        await store.write((tx) => tx.run(tx.build.insertInto('attempts').values(part)))
      }
      let reads = 0
      const read: typeof store.read = (job) => {
        reads += 1
        return store.read(job)
      }
      const find = (bytesMax: number) => queries.findExcess({ ...store, read }, projectId, bytesMax)
      assert.equal(await find(10_400), undefined)
      // Two steps, and one that finds nothing.
      assert.equal(reads, 3)
      assert.equal(await find(10_399), 1000)
      // 1001 calls began at or after 1020.
      assert.equal(await find(10_010), 1019)
      assert.equal(await find(10_009), 1020)
      const step = { projectId, beforeMs: 9999, restBytes: 0 }
      const [sum] = await store.read((tx) => queries.addStoredBytes(tx, step))
      assertSameValues({ ...sum }, { firstMs: 1020, bytes: 10_010, excessMs: 1520 })
    },
}
