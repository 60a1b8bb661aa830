import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { updateProject } from '../../../src/store/tenancy/projects.ts'
import { postgresSkipReason } from '../../support/database/postgres-server.ts'
import { createTestClient } from '../../support/facegate/test-client.ts'
import { createGalleryClient } from '../../support/gallery/test-gallery.ts'
import { listVisitors, visit } from '../../support/gallery/visitors.ts'
import { sharedGalleryNodes } from '../../support/nodes/test-nodes.ts'
import { closeSharedServices } from '../../support/shared-service.ts'

const skip = postgresSkipReason ?? false
const turns = 6

after(closeSharedServices)

test(
  'Two nodes receive the first pictures of one person at once: the person has one visitor id',
  { skip },
  async () => {
    const { a, b, local } = await sharedGalleryNodes()
    const { project, key } = await local.createProjectClient({ galleryMode: 'isolated' })
    const switches = { unknownPeople: true }
    await updateProject(local.database.store.db, project.projectId, { switches })
    const nodes = [a, b].map(({ client }) => createGalleryClient(createTestClient(client.url, key)))
    for (let turn = 0; turn < turns; turn++) {
      const name = `Person ${turn}`
      const ids = await Promise.all(
        [...nodes, ...nodes].map((node, take) => visit(node, name, take)),
      )
      const [visitorId] = ids
      assert.deepEqual(new Set(ids), new Set([visitorId]))
      for (const node of nodes)
        assert.deepEqual(
          (await listVisitors(node)).map((one) => [one.visitorId, one.visitCount]),
          [[visitorId, 4]],
        )
      const promoted = await Promise.all(
        nodes.map((node) => node.rest('POST', `/v1/visitors/${visitorId}/promote`, {})),
      )
      const statuses = promoted.map(({ status }) => status).toSorted((x, y) => x - y)
      assert.deepEqual(statuses, [200, 404], 'one of two promotions creates a subject')
      const { subjectId } = promoted.find(({ status }) => status === 200)?.body ?? {}
      for (const node of nodes)
        assert.equal((await node.rest('GET', `/v1/subjects/${subjectId}`)).status, 200)
    }
  },
)
