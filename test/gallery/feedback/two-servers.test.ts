import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { limitNearMisses } from '../../../src/store/gallery/feedback/near-miss-crops.ts'
import { updateProject } from '../../../src/store/tenancy/projects.ts'
import { postgresSkipReason } from '../../support/database/postgres-server.ts'
import {
  denyMatch,
  enrollPerson,
  identify,
  pictureOf,
  sendFeedback,
} from '../../support/gallery/feedback.ts'
import { imageParams } from '../../support/gallery/test-gallery.ts'
import { sharedGalleryNodes } from '../../support/nodes/test-nodes.ts'
import { closeSharedServices } from '../../support/shared-service.ts'

const skip = postgresSkipReason ?? false
const turns = 5

after(closeSharedServices)

test(
  'After the keeping of near misses is switched off on one node, calls that run on both keep no picture',
  { skip },
  async () => {
    const { a, b, local } = await sharedGalleryNodes()
    const { store } = local.database
    const { projectId } = await store.db
      .selectFrom('projects')
      .select('projectId')
      .executeTakeFirstOrThrow()
    const set = (nearMissCrops: boolean) =>
      store.runExclusive(async ({ db, tx }) => {
        const change = { switches: { nearMissCrops } }
        await updateProject(db, projectId, change)
        await limitNearMisses(tx, projectId, change)
      })
    const kept = () => store.db.selectFrom('nearMissCrops').select('expiresAtMs').execute()
    const groups = ['near-misses']
    const subjectId = await enrollPerson(a.client, 'Missed', { groups })
    const picture = { ...imageParams({ name: 'Missed', deviation: 1.6 }), groups }
    const { value } = await identify(a.client, picture)
    const missed = { ...picture, threshold: value.bestMatch.similarity + 0.03 }
    for (let turn = 0; turn < turns; turn++) {
      await set(true)
      await identify(a.client, missed)
      assert.ok((await kept()).some(({ expiresAtMs }) => expiresAtMs > 0))
      const calls = Array.from({ length: 12 }, (_, index) =>
        identify((index % 2 === 0 ? a : b).client, missed),
      )
      await calls[0]
      await set(false)
      await Promise.all(calls)
      assert.ok((await kept()).every(({ expiresAtMs }) => expiresAtMs <= 0))
    }
    await a.client.value('svc.deleteSubject', { subjectId })
    assert.deepEqual(await kept(), [])
  },
)

test(
  'Calls that match the same people on both nodes at a time are all counted, each once',
  { skip },
  async () => {
    const { a, b, local } = await sharedGalleryNodes()
    const { db } = local.database.store
    await db.updateTable('projects').set({ matchDays: 1 }).execute()
    const names = ['Counted 1', 'Counted 2', 'Counted 3']
    const groups = ['match-days']
    const subjectIds: string[] = []
    for (const name of names) subjectIds.push(await enrollPerson(a.client, name, { groups }))
    const counts = async () => {
      const rows = db.selectFrom('matchDays').select(['subjectId', 'matches'])
      const found = await rows.where('subjectId', 'in', subjectIds).execute()
      return subjectIds.map((id) => {
        const own = found.filter(({ subjectId }) => subjectId === id)
        return own.reduce((sum, { matches }) => sum + matches, 0)
      })
    }
    const calls = Array.from({ length: 40 }, (_, index) => {
      const people = (index % 2 === 0 ? names : names.toReversed()).map((name) => ({ name }))
      const { client } = index % 4 < 2 ? a : b
      return identify(client, { ...imageParams(...people), groups, maxFaces: 3 })
    })
    for (const { value } of await Promise.all(calls))
      assert.ok(value.faces.every(({ matched }: { matched: boolean }) => matched))
    assert.deepEqual(await counts(), [40, 40, 40])
    for (const subjectId of subjectIds) await a.client.value('svc.deleteSubject', { subjectId })
    assert.deepEqual(await counts(), [0, 0, 0])
    await db.updateTable('projects').set({ matchDays: 0 }).execute()
  },
)

test(
  'A denial on one node applies to the next call on the other one, and one of two opposite verdicts wins',
  { skip },
  async () => {
    const { a, b, local } = await sharedGalleryNodes()
    await local.database.store.db.updateTable('projects').set({ feedback: 1 }).execute()
    for (let turn = 0; turn < turns; turn++) {
      const groups = [`feedback-${turn}`]
      const subjectId = await enrollPerson(a.client, `Denied ${turn}`, { groups })
      const pictureOfOther = (take: number) => ({ ...pictureOf(`Other ${turn}`, take), groups })
      const { value } = await identify(b.client, pictureOfOther(0))
      assert.equal(value.bestMatch.subjectId, subjectId)
      await denyMatch(a.client, pictureOfOther(0))
      for (const { client } of [b, a])
        assert.equal((await identify(client, pictureOfOther(1))).value.matched, false)
      const own = { ...pictureOf(`Denied ${turn}`, 1), groups }
      const { requestId } = await identify(a.client, own)
      const results = await Promise.all([
        sendFeedback(a.client, { requestId, verdict: 'confirm' }),
        sendFeedback(b.client, { requestId, verdict: 'deny' }),
      ])
      // A confirmation ends a denial; after a confirmation the denial is refused.
      assert.equal(results[0].status, 200)
      assert.ok([200, 400].includes(results[1].status), JSON.stringify(results[1].body))
      for (const { client } of [a, b])
        assert.equal((await identify(client, own)).value.bestMatch.subjectId, subjectId)
      await a.client.value('svc.deleteSubject', { subjectId })
    }
  },
)
