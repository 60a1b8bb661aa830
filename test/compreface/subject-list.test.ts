import assert from 'node:assert/strict'
import { test } from 'node:test'
import { sendCompreFace as send } from '../support/compreface/send.ts'
import { fillSubjects } from '../support/gallery/fill-subjects.ts'
import { startGallery } from '../support/gallery/test-gallery.ts'

/** The subjects that the route reads at once. */
const pageRows = 1000
const pages = 5

test('The list of all subjects leaves the event loop free after each page', async () => {
  let isCounting = false
  let turns = 0
  const turnsAtReads: number[] = []
  await using large = await startGallery({
    environment: { COMPREFACE_API: 'on' },
    wrapStore: (store) => ({
      ...store,
      read: async (job) => {
        if (isCounting) turnsAtReads.push(turns)
        return store.read(job)
      },
    }),
  })
  const client = await large.createProjectClient({ galleryMode: 'isolated' })
  await fillSubjects(large, client.project, pages * pageRows - 1)
  const countTurn = (): void => {
    turns += 1
    if (isCounting) setImmediate(countTurn)
  }
  isCounting = true
  setImmediate(countTurn)
  const { body } = await send(client, 'GET', '/api/v1/recognition/subjects')
  isCounting = false
  assert.equal(body.subjects.length, pages * pageRows)
  // The service also reads for other purposes, in the same turns or in others.
  assert.ok(new Set(turnsAtReads).size >= pages, `reads at the turns ${turnsAtReads.join(' ')}`)
})
