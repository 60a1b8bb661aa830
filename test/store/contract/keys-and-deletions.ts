import assert from 'node:assert/strict'
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

const ciphertext = Buffer.from('sealed')
const pastUtc = (day: number): string => new Date(Date.UTC(2026, 0, day)).toISOString()

export const keysAndDeletionsContract = {
  'keys of a gallery wrap keys of subjects, and stay while they do': async (
    world: StoreFixture,
  ) => {
    const { store, project } = world
    const galleryId = project.projectId
    await createProjectGallery(world)
    await enrollSubject(world, 's1')
    const made = {
      galleryId,
      masterKeyId: 'master',
      wrapped: ciphertext,
      createdAtMs: now.getTime() + 1,
    }
    await store.write((tx) => queries.addGalleryKey(tx, { ...made, keyId: 'newer' }))
    await store.read(async (reading) => {
      assert.equal((await queries.findNewestGalleryKey(reading, galleryId))?.keyId, 'newer')
      assert.equal((await queries.findGalleryKey(reading, 'newer'))?.createdAtMs, made.createdAtMs)
      assert.equal((await queries.listGalleryKeys(reading)).length, 2)
    })
    await assert.rejects(
      store.write((tx) => queries.removeGalleryKey(tx, 'wrapping')),
      /foreign key/iu,
    )
    await store.write((tx) => queries.removeGalleryKey(tx, 'newer'))
    assert.equal((await store.read(queries.listGalleryKeys)).length, 1)
  },

  'deletions are a chain that nothing can change': async ({ store, accountId }: StoreFixture) => {
    const add = (at: number) =>
      store.write((tx) =>
        queries.addDeletion(tx, 'gallery', {
          deletionId: `d${at}`,
          subjectId: `s${at}`,
          tenantId: accountId,
          groups: ['a', 'b'],
          externalId: at % 2 ? 'odd' : null,
          embeddingCount: at,
          deletedAtUtc: pastUtc(at),
        }),
      )
    await Promise.all([1, 2, 3, 4, 5, 6].map(add))
    assertSameValues(await queries.findBrokenDeletions(store.db), [])
    await store.read(async (reading) => {
      assertSameValues(await queries.tenantsWithDeletions(reading), [accountId])
      const [oldest, ...others] = await queries.deletionsAfter(reading, accountId, undefined, 9)
      assertSameValues(
        others,
        await queries.deletionsAfter(reading, accountId, oldest?.deletionId, 9),
      )
      assert.equal(others.length, 5)
      await assert.rejects(
        queries.deletionsAfter(reading, accountId, 'none', 9),
        /no deletion record/u,
      )
      const rows = [{ subjectId: 's1' }, { subjectId: 'alive' }]
      assertSameValues(await queries.withoutDeletionRecord(reading, rows), [{ subjectId: 'alive' }])
      const found = async (filter: object) =>
        (await queries.findDeletions(reading, { galleryId: 'gallery', limit: 9, ...filter })).map(
          ({ record }) => record.embeddingCount,
        )
      assertSameValues((await found({})).toSorted(compareNullable), [1, 2, 3, 4, 5, 6])
      assertSameValues((await found({ externalId: 'odd' })).toSorted(compareNullable), [1, 3, 5])
      assertSameValues(
        (await found({ fromUtc: pastUtc(2), toUtc: pastUtc(4) })).toSorted(compareNullable),
        [2, 3],
      )
      assertSameValues(await found({ subjectId: 'S4' }), [4])
      const [first, second] = await queries.findDeletions(reading, {
        galleryId: 'gallery',
        limit: 2,
      })
      assert.ok(first && second && first.seq > second.seq)
      assert.equal((await found({ before: second.seq })).length, 4)
      assertSameValues(first.record.groups, ['a', 'b'])
    })
    await store.write((tx) =>
      queries.appendDeletion(tx, {
        deletionId: 'd7',
        galleryId: 'gallery',
        tenantId: accountId,
        subjectId: 's7',
        groups: '[]',
        externalId: null,
        embeddingCount: 7,
        deletedAtUtc: pastUtc(7),
      }),
    )
    assertSameValues(await queries.findBrokenDeletions(store.db), [])
    const changing = store.db.updateTable('deletions').set({ groups: '[]' }).execute()
    await assert.rejects(changing, /for ever|append-only/u)
  },

  'an answer that names somebody is scrubbed of the name': async (world: StoreFixture) => {
    const { store, project, keyId } = world
    const { projectId } = project
    const of = {
      projectId,
      keyId,
      action: 'svc.identify',
      fingerprint: Buffer.alloc(32),
      token: 't',
    }
    const when = { deadlineMs: 1, windowStartMs: now.getTime(), reservedMicros: 0n }
    await store.write(async (tx) => {
      for (const requestId of ['r1', 'r2']) {
        await tx.attempts.insert({ ...of, ...when, requestId })
        await tx.attempts.complete({
          projectId,
          requestId,
          token: 't',
          code: 'OK',
          answer: Buffer.from('names s1'),
          scrubbed: requestId === 'r1' ? Buffer.from('nobody') : null,
        })
        await queries.addResponseSubjects(tx, { projectId, requestId }, ['s1', 's1', 's2'])
        await queries.addResponseSubjects(tx, { projectId, requestId }, [])
      }
      await queries.scrubResponses(tx, 's1')
    })
    const answers = await store.db
      .selectFrom('attempts')
      .select(['answer', 'scrubbed'])
      .orderBy('requestId')
      .execute()
    assertSameValues(
      answers.map((row) => [Buffer.from(row.answer ?? []).toString(), row.scrubbed]),
      [
        ['nobody', null],
        ['names s1', null],
      ],
    )
    await store.read(async (reading) => {
      assertSameValues(await queries.findAttemptStatus(reading, { projectId, requestId: 'R1' }), {
        state: 'done',
        startedAtUtc: nowUtc,
        answerKept: true,
      })
      assert.equal(
        await queries.findAttemptStatus(reading, { projectId, requestId: 'r9' }),
        undefined,
      )
    })
  },
}
