import assert from 'node:assert/strict'
import { test } from 'node:test'
import { markSubjectChanged } from '../../src/store/gallery/faces.ts'
import { recordGalleryChange } from '../../src/store/gallery/galleries.ts'
import { updateSubjectRow } from '../../src/store/gallery/subjects.ts'
import { postgresSkipReason } from '../support/database/postgres-server.ts'
import { imageParams } from '../support/gallery/test-gallery.ts'
import { shiftedClock, startGalleryNodes } from '../support/nodes/test-nodes.ts'

const hourMs = 3_600_000

for (const search of ['memory', 'pgvector'])
  test(
    `Subjects expire by the database’s clock, not by the clocks of the nodes (${search})`,
    { skip: postgresSkipReason ?? false },
    async () => {
      await using nodes = await startGalleryNodes({
        environment: { SEARCH: search },
        nodeEnvironment: (node) => shiftedClock(node === 1 ? hourMs : -hourMs),
      })
      const clients = [nodes.a.client, nodes.b.client]
      const { store } = nodes.local.database
      const utcAfter = (ms: number): string => new Date(Date.now() + ms).toISOString()
      for (const [index, client] of clients.entries()) {
        const past = { ...imageParams('Ann'), expiresAtUtc: utcAfter(-hourMs / 2) }
        assert.equal(await client.code('svc.enroll', past), 'INVALID_REQUEST')
        const name = `Visitor ${index}`
        const visit = { ...imageParams(name), expiresAtUtc: utcAfter(hourMs / 2) }
        const { subjectId } = await client.value('svc.enroll', visit)
        const subjects = store.db.selectFrom('subjects').where('subjectId', '=', subjectId)
        const { galleryId } = await subjects.select('galleryId').executeTakeFirstOrThrow()
        const [found, probe] = [imageParams(name), { ...imageParams(name), subjectId }]
        for (const other of clients) {
          assert.equal((await other.value('svc.identify', found)).bestMatch?.subjectId, subjectId)
          assert.equal((await other.value('svc.verify', probe)).matched, true)
        }
        const expiresAtUtc = utcAfter(-hourMs / 2)
        // svc.updateSubject refuses a past expiry.
        await store.write(async (tx) => {
          await updateSubjectRow(tx, subjectId, { expiresAtUtc })
          const sequence = await recordGalleryChange(tx, { galleryId })
          await markSubjectChanged(tx, { subjectId, sequence })
        })
        for (const other of clients) {
          assert.equal((await other.value('svc.identify', found)).bestMatch, null)
          assert.equal(await other.code('svc.verify', probe), 'SUBJECT_NOT_FOUND')
        }
      }
    },
  )
