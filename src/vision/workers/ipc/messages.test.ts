import assert from 'node:assert/strict'
import { test } from 'node:test'
import { deserializeJob, serializeJob, type AnalysisJob } from './messages.ts'

const request = { minFaceConfidence: 0.6, minFaceSizePx: 40, maxFaces: 1, crops: false }

// A text that is not base64 must not become valid on its way: "Ł" has the low byte of "A".
for (const bytes of ['', 'AAAA', 'A'.repeat(100_001), 'ŁAAA', 'é€😀\n"\\'])
  test(`A worker receives the text of an image as it was sent: ${bytes.slice(0, 8)}`, () => {
    const job: AnalysisJob = {
      image: { bytes, contentType: 'image/png' },
      request,
      path: 'params.images[0]',
    }
    assert.deepEqual(deserializeJob(serializeJob(job)), job)
  })

test('A worker receives the vectors of a request', () => {
  const quick = { modelId: 'model', vector: Float32Array.of(0.25, -1e-7, 3) }
  const job = {
    image: { bytes: 'AAAA', contentType: 'image/jpeg' as const },
    request: { ...request, samePersonAs: quick },
    path: 'params.images[1]',
  } satisfies AnalysisJob
  const received = deserializeJob(serializeJob(job))
  assert.deepEqual(received.request.samePersonAs, quick)
})
