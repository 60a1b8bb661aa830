import assert from 'node:assert/strict'
import { hourMs } from '../../../../src/lib/clock.ts'
import { mapSequential } from '../../../../src/lib/account-context.ts'
import type { ReadTx } from '../../../../src/store/database.ts'
import { batchBytes } from '../../../../src/store/delete-in-batches.ts'
import type { NearMissCropRow } from '../../../../src/store/gallery-schema.ts'
import { recordDeletions } from '../../../support/database/record-redactions.ts'
import { countedCallOf } from '../ledger-rows.ts'
import { queries } from '../tracked-queries.ts'
import {
  assertSameValues,
  createProjectGallery,
  enrollSubject,
  nowMs,
  type StoreFixture,
} from '../store-fixture.ts'

const ciphertext = Buffer.from('crop')

export const nearMissesContract = {
  'crops of near misses end with the setting, with their time and with their subject': async (
    fixture: StoreFixture,
  ) => {
    const { store, project } = fixture
    const { projectId } = project
    await createProjectGallery(fixture)
    for (const subjectId of ['s-1', 's-2']) await enrollSubject(fixture, subjectId)
    const crop = (cropId: string, hours: number, subjectId = 's-1'): NearMissCropRow => ({
      cropId,
      projectId,
      subjectId,
      requestId: 'call',
      storedAtMs: nowMs - hours * hourMs,
      expiresAtMs: nowMs - hours * hourMs + 72 * hourMs,
      ciphertext,
    })
    const set = (change: object) =>
      store.runExclusive(async ({ db, tx }) => {
        await queries.updateProject(db, projectId, change)
        await queries.limitNearMisses(tx, projectId, change)
      })
    const keptMs = () => store.write((tx) => queries.lockNearMissTime(tx, projectId, 'shared'))
    assert.equal(await keptMs(), 0, 'off by default')
    await set({ switches: { nearMissCrops: true }, nearMissHours: 72 })
    assert.equal(await keptMs(), 72 * hourMs)
    await store.write((tx) =>
      mapSequential([crop('c-30', 30), crop('c-20', 20, 's-2'), crop('c-10', 10)], (row) =>
        queries.addNearMissCrop(tx, row),
      ),
    )
    const listed = (subjectId: string) =>
      store.read(async (tx) =>
        (await queries.listNearMisses(tx, subjectId)).map(({ expiresAtUtc }) =>
          Math.round((Date.parse(expiresAtUtc) - nowMs) / hourMs),
        ),
      )
    assertSameValues([await listed('s-1'), await listed('s-2')], [[42, 62], [52]])
    const beforeUtc = new Date(nowMs - 20 * hourMs).toISOString()
    const count = (tx: ReadTx) => queries.countNearMisses(tx, { projectId, beforeUtc })
    assertSameValues(await store.read(count), { total: 2, isCapped: false })
    await set({ nearMissHours: 24 })
    assertSameValues([await listed('s-1'), await listed('s-2')], [[-6, 14], [4]])
    await set({ nearMissHours: 72 })
    assertSameValues(await listed('s-1'), [-6, 14], 'a longer time is for later crops')
    await store.write((tx) => {
      const unused = () => assert.fail('another setting locks and changes no crops')
      const change = { switches: { billing: false }, retentionDays: 5 }
      return queries.limitNearMisses({ ...tx, lock: unused, run: unused }, projectId, change)
    })
    await queries.removeEndedData(store, nowMs)
    assertSameValues(await listed('s-1'), [14])
    const needingKeys = () =>
      store.read(async (tx) =>
        (await queries.findSubjectsNeedingKey(tx, projectId, 5)).map(({ subjectId }) => subjectId),
      )
    assertSameValues(await needingKeys(), ['s-1'])
    await store.write(async (tx) => {
      const replacement = Buffer.from('again')
      const [found] = await queries.findSubjectCrops(tx, 's-2')
      assertSameValues(found, { faceId: 'c-20', ciphertext, isNearMiss: 1 })
      const replaced = { faceId: 'c-20', ciphertext: replacement, isNearMiss: 1 } as const
      await queries.replaceCropCiphertext(tx, replaced)
      assertSameValues((await queries.findNearMissCrop(tx, replaced))?.ciphertext, replacement)
      await queries.removeSubject(tx, 's-2')
      assert.equal(await queries.findNearMissCrop(tx, replaced), undefined)
    })
    await set({ switches: { nearMissCrops: false } })
    await queries.removeEndedData(store, 0)
    assertSameValues(await listed('s-1'), [], 'whatever the clock')
  },

  'a project keeps its newest crops of near misses': async (fixture: StoreFixture) => {
    const { store, project } = fixture
    await createProjectGallery(fixture)
    await enrollSubject(fixture, 's-1')
    const { nearMissesPerProjectMax } = queries
    const crops = Array.from({ length: nearMissesPerProjectMax + 1 }, (_, index) => ({
      cropId: `c-${index}`,
      projectId: project.projectId,
      subjectId: 's-1',
      requestId: `call-${index}`,
      storedAtMs: nowMs + index,
      expiresAtMs: nowMs + hourMs,
      ciphertext,
    }))
    await store.write((tx) => mapSequential(crops, (crop) => queries.addNearMissCrop(tx, crop)))
    await queries.removeEndedData(store, nowMs)
    const kept = await store.read((tx) => queries.listNearMisses(tx, 's-1'))
    assertSameValues([kept.length, kept[0]?.requestId], [nearMissesPerProjectMax, 'call-1'])
  },

  'a shorter time and the end of the setting overwrite no crop': async (fixture: StoreFixture) => {
    const { store, project } = fixture
    const { projectId } = project
    await createProjectGallery(fixture)
    await enrollSubject(fixture, 's-1')
    const row = { projectId, subjectId: 's-1', storedAtMs: nowMs, expiresAtMs: nowMs + 72 * hourMs }
    const crops = Array.from({ length: 50 }, (_, index) => {
      const content = Buffer.alloc(40_000, index + 1)
      return { ...row, cropId: `c-${index}`, requestId: `call-${index}`, ciphertext: content }
    })
    await store.write((tx) => mapSequential(crops, (crop) => queries.addNearMissCrop(tx, crop)))
    for (const change of [{ nearMissHours: 24 }, { switches: { nearMissCrops: false } }]) {
      await store.runExclusive(({ db }) =>
        queries.updateProject(db, projectId, { switches: { nearMissCrops: true }, ...change }),
      )
      await store.checkpoint()
      const before = await store.readInfo()
      await store.write((tx) => queries.limitNearMisses(tx, projectId, change))
      const { bytes, kind } = await store.readInfo()
      // PostgreSQL stores large values apart. Each row of SQLite is on a page of 4 KiB.
      if (kind === 'sqlite') assert.ok(bytes - before.bytes < 50 * 10_000, `${bytes}`)
    }
    const [listed] = await store.read((tx) => queries.listNearMisses(tx, 's-1'))
    assert.ok(listed && Date.parse(listed.expiresAtUtc) <= 0, 'ended')
  },

  'a crop is found by its call only, also if a later call has the same id': async (
    fixture: StoreFixture,
  ) => {
    const { store, project } = fixture
    const { projectId } = project
    const requestId = 'aaaaaaaa-0000-4000-8000-000000000001'
    await createProjectGallery(fixture)
    await enrollSubject(fixture, 's-1')
    const miss = { outcome: 'no_match', similarity: 0.77, nearMiss: 1 } as const
    const row = { ...miss, requestId: requestId.toUpperCase() }
    const crop = { projectId, subjectId: 's-1', requestId, ciphertext, expiresAtMs: nowMs + 9 }
    await store.write(async (tx) => {
      for (const atMs of [nowMs - 20, nowMs - 10])
        await tx.logCall(countedCallOf(fixture, { ...row, atMs }))
      await tx.logCall(countedCallOf(fixture, { ...row, atMs: nowMs - 5, nearMiss: 0 }))
      for (const [cropId, storedAtMs] of [
        ['first', nowMs - 18],
        ['second', nowMs - 9],
      ] as const)
        await queries.addNearMissCrop(tx, { ...crop, cropId, storedAtMs })
    })
    const found = (at = nowMs) =>
      store.read(async (tx) => {
        const calls = await queries.readCalls(tx, { projectId, limit: 9 })
        const crops = await mapSequential(calls, (call) => queries.findNearMiss(tx, call, at))
        return crops.map((one) => one?.cropId ?? null)
      })
    assertSameValues(await found(), [null, 'second', 'first'])
    assertSameValues(await found(nowMs + 8), [null, 'second', 'first'])
    assertSameValues(await found(nowMs + 9), [null, null, null], 'at the end of its time')
    await store.write((tx) =>
      tx.run(tx.build.deleteFrom('nearMissCrops').where('cropId', '=', 'first')),
    )
    assertSameValues(await found(), [null, 'second', null], 'not the crop of another call')
    await store.db
      .updateTable('subjects')
      .set({ expiresAtUtc: '2026-03-04T05:06:07.890Z' })
      .execute()
    assertSameValues(await found(), [null, null, null], 'of an expired subject')
  },

  'many crops of a subject are deleted in batches, and an interruption keeps the rest and the subject':
    async (fixture: StoreFixture) => {
      const { store, project } = fixture
      const { projectId } = project
      await createProjectGallery(fixture)
      for (const subjectId of ['s-1', 's-2']) await enrollSubject(fixture, subjectId)
      const times = { storedAtMs: nowMs, expiresAtMs: nowMs + hourMs }
      const row = {
        projectId,
        requestId: 'call',
        ...times,
        ciphertext: Buffer.alloc(batchBytes / 2),
      }
      await store.write((tx) =>
        mapSequential([0, 1, 2, 3, 4, 5, 6], (index) =>
          queries.addNearMissCrop(tx, {
            ...row,
            cropId: `c-${index}`,
            subjectId: index < 5 ? 's-1' : 's-2',
          }),
        ),
      )
      const remove = (subjectId: string) =>
        store.write((tx) => queries.requireFewNearMisses(tx, subjectId))
      const counts = () =>
        store.read(async (tx) => [
          (await queries.listNearMisses(tx, 's-1')).length,
          (await queries.listNearMisses(tx, 's-2')).length,
        ])
      const batches: number[] = []
      let interruptedAt = 2
      using _recording = recordDeletions('nearMissCrops', (count) => {
        if (batches.push(count) === interruptedAt) throw new Error('interrupted')
      })
      // PostgreSQL reports it as the cause.
      const isInterruption = (error: Error) =>
        /interrupted/u.test(`${error.message} ${String(error.cause)}`)
      await assert.rejects(remove('s-1'), isInterruption)
      assertSameValues(
        [batches, await counts()],
        [
          [2, 2],
          [3, 2],
        ],
      )
      const marked = await store.db
        .selectFrom('subjects')
        .select('subjectId')
        .where('needsNewKey', '=', 1)
        .execute()
      assertSameValues(marked, [{ subjectId: 's-1' }])
      interruptedAt = 0
      batches.length = 0
      await remove('s-2')
      assertSameValues([batches, await counts()], [[], [3, 2]], 'one batch stays')
      await remove('s-1')
      assertSameValues(
        [batches, await counts()],
        [
          [2, 1],
          [0, 2],
        ],
      )
    },
}
