import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { createSetupLink } from '../../src/console/auth/setup.ts'
import { createConsoleClient, validPassword, assertOk } from '../support/console/test-console.ts'
import { postgresSkipReason } from '../support/database/postgres-server.ts'
import { imageParams } from '../support/gallery/test-gallery.ts'
import { sharedGalleryNodes } from '../support/nodes/test-nodes.ts'
import { closeSharedServices } from '../support/shared-service.ts'

const skip = postgresSkipReason ?? false
const turns = 6

after(closeSharedServices)

test(
  'Two nodes undo one merge at once: it is undone once, and both nodes find both subjects',
  { skip },
  async () => {
    const { a, b, local } = await sharedGalleryNodes()
    const token = await local.database.store.write((tx) => createSetupLink(tx, null, Date.now()))
    const owner = createConsoleClient(a.client.url)
    const other = createConsoleClient(b.client.url)
    assertOk(await owner.send('POST', '/setup', { token, name: 'Uma', password: validPassword }))
    assertOk(await other.send('POST', '/sign-in', { name: 'Uma', password: validPassword }))
    const projectId = assertOk(await owner.get('/projects')).body.items[0].projectId
    const path = `/projects/${projectId}`
    for (let turn = 0; turn < turns; turn++) {
      const enroll = async (take: number) => {
        const person = imageParams({ name: `Person ${turn}`, deviation: 0.3, take })
        return (await a.client.value('svc.enroll', { ...person, duplicateCheck: 'off' })).subjectId
      }
      const [target, source] = [await enroll(0), await enroll(1)]
      const body = { sourceSubjectId: source, confirm: source.slice(0, 8) }
      // The second node merges, so that the first one has to reload the faces.
      const merged = assertOk(await other.send('POST', `${path}/subjects/${target}/merge`, body))
      const undo = `${path}/merges/${merged.body.mergeId}/undo`
      const results = await Promise.all([owner, other].map((node) => node.send('POST', undo)))
      const statuses = results.map(({ status }) => status).toSorted((x, y) => x - y)
      assert.deepEqual(statuses, [200, 404])
      const { subject } = results.find(({ status }) => status === 200)?.body ?? {}
      for (const { client } of [a, b])
        for (const [take, subjectId] of [
          [0, target],
          [1, subject.subjectId],
        ]) {
          const probe = imageParams({ name: `Person ${turn}`, deviation: 0.3, take })
          const { bestMatch } = await client.value('svc.identify', probe)
          assert.deepEqual([bestMatch.subjectId, bestMatch.similarity], [subjectId, 1])
        }
    }
  },
)
