import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { test } from 'node:test'
import type { ActionCall, ItemOutcomes } from '../../src/actions/action.ts'
import { identify } from '../../src/actions/identify.ts'
import { defaultSwitches } from '../../src/store/tenancy/switches.ts'
import { imageParams, startGallery, type TestGallery } from '../support/gallery/test-gallery.ts'

test('An image without an accepted face is analyzed once', async () => {
  await using gallery = await startGallery()
  const smallFace = imageParams({ name: 'ann', side: 50 })
  for (const [params, code] of [
    [imageParams(), 'NO_FACE_FOUND'],
    [{ ...smallFace, minFaceSize: 100 }, 'FACE_TOO_SMALL'],
  ] as const)
    for (const action of ['svc.identify', 'svc.liveness', 'svc.attributes', 'svc.enroll']) {
      const before = gallery.vision.requests.length
      assert.equal(await gallery.code(action, params), code, action)
      assert.equal(gallery.vision.requests.length, before + 1, action)
    }
})

const subjectCount = 30
const imageCount = 10

/** Runs svc.identify and counts the statements of its effect. */
async function identifyAndCount(gallery: TestGallery, params: object) {
  const { store } = gallery.database
  const [project] = await store.db.selectFrom('projects').selectAll().execute()
  assert.ok(project)
  const { projectId, accountId } = project
  const call: ActionCall<unknown> = {
    params,
    caller: {
      keyId: 'key',
      projectId,
      accountId,
      galleryId: projectId,
      switches: defaultSwitches,
      permissions: ['*'],
    },
    services: { vision: gallery.vision, ...gallery.openedGallery },
    signal: new AbortController().signal,
    debug: false,
    requestId: randomUUID(),
  }
  const result = await identify.run(call)
  if (!('effect' in result)) throw new Error('svc.identify has an effect')
  let statementCount = 0
  const outcomes: ItemOutcomes = await store.write((tx) =>
    result.effect({
      ...tx,
      run: (query) => {
        statementCount += 1
        return tx.run(query)
      },
    }),
  )
  return { outcomes, statementCount }
}

test('svc.identify loads the subjects of all its hits with a bounded number of statements', async () => {
  await using gallery = await startGallery()
  for (let take = 0; take < subjectCount; take++)
    await gallery.value('svc.enroll', {
      ...imageParams({ name: 'ann', deviation: 0.3, take }),
      externalId: `ann-${take}`,
      duplicateCheck: 'off',
    })
  const { images } = imageParams('ann') as { readonly images: readonly [object] }
  const params = {
    images: Array.from({ length: imageCount }, () => images[0]),
    threshold: 0,
    maxCandidates: 100,
  }
  const { outcomes, statementCount } = await identifyAndCount(gallery, params)
  assert.equal(outcomes.length, imageCount)
  for (const outcome of outcomes) {
    if (!('value' in outcome)) throw new Error('the item failed')
    const { faces } = identify.value.parse(outcome.value)
    const candidates = faces[0]?.candidates ?? []
    assert.equal(candidates.length, subjectCount)
    assert.equal(new Set(candidates.map(({ externalId }) => externalId)).size, subjectCount)
    const similarities = candidates.map(({ similarity }) => similarity)
    assert.deepEqual(
      similarities,
      similarities.toSorted((a, b) => b - a),
    )
  }
  // One update per image, and a constant number of reads.
  assert.ok(statementCount <= imageCount + 8, `${statementCount} statements`)
})
