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

async function enrollSubjects(gallery: TestGallery): Promise<void> {
  for (let take = 0; take < subjectCount; take++)
    await gallery.value('svc.enroll', {
      ...imageParams({ name: 'ann', deviation: 0.3, take }),
      externalId: `ann-${take}`,
      duplicateCheck: 'off',
    })
}

test('svc.identify loads the subjects of all its hits with a bounded number of statements', async () => {
  await using gallery = await startGallery()
  await enrollSubjects(gallery)
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

test('A response of svc.identify has at most 1,000 candidates, and a warning states a lower limit', async () => {
  await using gallery = await startGallery()
  await enrollSubjects(gallery)
  const faceCount = 20
  const { images } = imageParams(...Array.from({ length: faceCount }, () => 'ann')) as {
    readonly images: readonly [object]
  }
  for (const [sent, maxCandidates, expected] of [
    [1, 50, subjectCount],
    [1, 100, subjectCount],
    [2, 25, 25],
    [2, 26, 25],
    [10, 5, 5],
    [10, 100, 5],
  ] as const) {
    const params = {
      images: Array.from({ length: sent }, () => images[0]),
      maxFaces: faceCount,
      threshold: 0.1,
      maxCandidates,
    }
    const { body } = await gallery.call('svc.identify', params)
    assert.equal(body.data.results.length, sent)
    for (const { value } of body.data.results) {
      assert.equal(value.faces.length, faceCount)
      for (const { candidates } of value.faces) assert.equal(candidates.length, expected)
      const warning =
        expected < subjectCount && expected < maxCandidates
          ? [
              `maxCandidates: each face has at most ${expected} candidates, because a response has at most 1000; for more, send fewer images or a smaller maxFaces`,
            ]
          : undefined
      assert.deepEqual(value.warnings, warning, `${sent} images, ${maxCandidates} candidates`)
    }
  }
})
