import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { postgresSkipReason } from '../../support/database/postgres-server.ts'
import {
  denyMatch,
  enrollPerson,
  identify,
  pictureOf,
  sendFeedback,
} from '../../support/gallery/feedback.ts'
import { sharedGalleryNodes } from '../../support/nodes/test-nodes.ts'
import { closeSharedServices } from '../../support/shared-service.ts'

const skip = postgresSkipReason ?? false
const turns = 5

after(closeSharedServices)

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
