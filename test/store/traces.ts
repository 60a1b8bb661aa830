import assert from 'node:assert/strict'
import { ask } from './queries.ts'
import { byValue, enrol, makeGallery, now, nowUtc, same, type World } from './world.ts'

const sealed = Buffer.from('sealed')
const past = (day: number): string => new Date(Date.UTC(2026, 0, day)).toISOString()

export const traces = {
  'keys of a gallery wrap keys of subjects, and stay while they do': async (world: World) => {
    const { store, project } = world
    const galleryId = project.projectId
    await makeGallery(world)
    await enrol(world, 's1')
    const made = {
      galleryId,
      masterKeyId: 'master',
      wrapped: sealed,
      createdAtMs: now.getTime() + 1,
    }
    await store.write((tx) => ask.addGalleryKey(tx, { ...made, keyId: 'newer' }))
    await store.read(async (reading) => {
      assert.equal((await ask.newestGalleryKey(reading, galleryId))?.keyId, 'newer')
      assert.equal((await ask.findGalleryKey(reading, 'newer'))?.createdAtMs, made.createdAtMs)
      assert.equal((await ask.listGalleryKeys(reading)).length, 2)
    })
    await assert.rejects(
      store.write((tx) => ask.removeGalleryKey(tx, 'wrapping')),
      /foreign key/iu,
    )
    await store.write((tx) => ask.removeGalleryKey(tx, 'newer'))
    assert.equal((await store.read(ask.listGalleryKeys)).length, 1)
  },

  'deletions are a chain that nothing can change': async ({ store, accountId }: World) => {
    const add = (at: number) =>
      store.write((tx) =>
        ask.addDeletion(tx, 'gallery', {
          deletionId: `d${at}`,
          subjectId: `s${at}`,
          tenantId: accountId,
          groups: ['a', 'b'],
          externalId: at % 2 ? 'odd' : null,
          embeddingCount: at,
          deletedAtUtc: past(at),
        }),
      )
    await Promise.all([1, 2, 3, 4, 5, 6].map(add))
    same(await ask.brokenDeletions(store.db), [])
    await store.read(async (reading) => {
      same(await ask.tenantsWithDeletions(reading), [accountId])
      const [oldest, ...others] = await ask.deletionsAfter(reading, accountId, undefined, 9)
      same(others, await ask.deletionsAfter(reading, accountId, oldest?.deletionId, 9))
      assert.equal(others.length, 5)
      await assert.rejects(ask.deletionsAfter(reading, accountId, 'none', 9), /no deletion record/u)
      const rows = [{ subjectId: 's1' }, { subjectId: 'alive' }]
      same(await ask.withoutRecord(reading, rows), [{ subjectId: 'alive' }])
      const found = async (filter: object) =>
        (await ask.findDeletions(reading, { galleryId: 'gallery', limit: 9, ...filter })).map(
          ({ record }) => record.embeddingCount,
        )
      same((await found({})).toSorted(byValue), [1, 2, 3, 4, 5, 6])
      same((await found({ externalId: 'odd' })).toSorted(byValue), [1, 3, 5])
      same((await found({ fromUtc: past(2), toUtc: past(4) })).toSorted(byValue), [2, 3])
      same(await found({ subjectId: 'S4' }), [4])
      const [first, second] = await ask.findDeletions(reading, { galleryId: 'gallery', limit: 2 })
      assert.ok(first && second && first.seq > second.seq)
      assert.equal((await found({ before: second.seq })).length, 4)
      same(first.record.groups, ['a', 'b'])
    })
    await store.write((tx) =>
      ask.enterDeletion(tx, {
        deletionId: 'd7',
        galleryId: 'gallery',
        tenantId: accountId,
        subjectId: 's7',
        groups: '[]',
        externalId: null,
        embeddingCount: 7,
        deletedAtUtc: past(7),
      }),
    )
    same(await ask.brokenDeletions(store.db), [])
    const changing = store.db.updateTable('deletions').set({ groups: '[]' }).execute()
    await assert.rejects(changing, /for ever|append-only/u)
  },

  'an answer that names somebody is scrubbed of the name': async (world: World) => {
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
        await tx.attempts.begin({ ...of, ...when, requestId })
        await tx.attempts.finish({
          projectId,
          requestId,
          token: 't',
          code: 'OK',
          answer: Buffer.from('names s1'),
          scrubbed: requestId === 'r1' ? Buffer.from('nobody') : null,
        })
        await ask.nameSubjects(tx, { projectId, requestId }, ['s1', 's1', 's2'])
        await ask.nameSubjects(tx, { projectId, requestId }, [])
      }
      await ask.scrubAnswers(tx, 's1')
    })
    const answers = await store.db
      .selectFrom('attempts')
      .select(['answer', 'scrubbed'])
      .orderBy('requestId')
      .execute()
    same(
      answers.map((row) => [Buffer.from(row.answer ?? []).toString(), row.scrubbed]),
      [
        ['nobody', null],
        ['names s1', null],
      ],
    )
    await store.read(async (reading) => {
      same(await ask.findAttempt(reading, { projectId, requestId: 'R1' }), {
        state: 'done',
        startedAtUtc: nowUtc,
        answerKept: true,
      })
      assert.equal(await ask.findAttempt(reading, { projectId, requestId: 'r9' }), undefined)
    })
  },
}
