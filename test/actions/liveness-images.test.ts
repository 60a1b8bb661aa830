import assert from 'node:assert/strict'
import { readFile } from 'node:fs/promises'
import { after, before, test } from 'node:test'
import sharp, { type Sharp } from 'sharp'
import { allActions } from '../../src/actions/all-actions.ts'
import { builtinSet, type ModelSet } from '../../src/models/model-set.ts'
import { createPipeline } from '../../src/vision/pipeline.ts'
import {
  recommendedModels,
  vendorSamples,
  skipWithoutEvalData,
  withRecommendedLiveness,
} from '../support/models/recommended-models.ts'
import {
  samplePhotograph,
  sharedFacegate,
  type TestFacegate,
} from '../support/facegate/test-facegate.ts'
import { closeSharedServices } from '../support/shared-service.ts'
import { unlimitedVisionClient } from '../support/gallery/fake-vision.ts'
import { startGallery } from '../support/gallery/test-gallery.ts'
import { modelsFolder } from '../support/vision/test-pipeline.ts'

let facegate: TestFacegate
/** The head and shoulders of one woman, cut out of a photograph of four people. */
let portrait: Sharp
before(async () => {
  facegate = await sharedFacegate()
  portrait = sharp((await samplePhotograph(6)).bytes).extract({
    left: 1330,
    top: 130,
    width: 560,
    height: 620,
  })
})
after(closeSharedServices)

const schema = allActions.find(({ name }) => name === 'svc.liveness')?.value

async function checkLiveness(bytes: Buffer, params: object = {}) {
  const image = { bytes, contentType: bytes[0] === 0x89 ? 'image/png' : 'image/jpeg' }
  const { body } = await facegate.run('svc.liveness', image, params)
  assert.equal(body.ok, true, JSON.stringify(body))
  const [{ value }] = body.data.results
  assert.deepEqual(schema?.parse(value), value)
  assert.equal(value.live, value.decision === 'live')
  return value
}

const reasonsOf = async (image: Sharp): Promise<string[]> => {
  const { decision, reasons } = await checkLiveness(await image.png().toBuffer())
  assert.equal(decision, 'uncertain')
  return reasons
}

test('No face of the sample photographs of live people is classified as a spoof', async () => {
  for (const n of [1, 2, 3, 4, 5, 6] as const) {
    const { decision, reasons, faceCount } = await checkLiveness((await samplePhotograph(n)).bytes)
    assert.notEqual(decision, 'spoof', `sample ${n}`)
    assert.ok(faceCount > 1 && reasons.includes('MULTIPLE_FACES'), `sample ${n}`)
  }
})

test('The only reason for a portrait is the limited accuracy of the built-in model', async () => {
  const { decision, reasons, threshold, faceCount } = await checkLiveness(
    await portrait.clone().png().toBuffer(),
  )
  assert.notEqual(decision, 'spoof')
  assert.deepEqual(reasons, decision === 'uncertain' ? ['INCONCLUSIVE'] : [])
  assert.equal(faceCount, 1)
  assert.equal(threshold, 0.9)
})

test('A small face, a face at the edge and a turned face are uncertain for only that reason', async () => {
  assert.deepEqual(await reasonsOf(portrait.clone().resize({ width: 120 })), ['FACE_TOO_SMALL'])
  const original = sharp(await portrait.clone().png().toBuffer())
  const tight = original.clone().extract({ left: 140, top: 80, width: 290, height: 380 })
  assert.deepEqual(await reasonsOf(tight), ['FACE_TOO_CLOSE_TO_EDGE'])
  const turned = sharp((await samplePhotograph(2)).bytes).extract({
    left: 228,
    top: 16,
    width: 431,
    height: 510,
  })
  assert.deepEqual(await reasonsOf(turned), ['EXTREME_POSE'])
})

test('Two faces are uncertain even if the score would be live', async () => {
  const pair = sharp((await samplePhotograph(6)).bytes).extract({
    left: 1000,
    top: 130,
    width: 890,
    height: 620,
  })
  const { decision, reasons, faceCount } = await checkLiveness(await pair.png().toBuffer(), {
    threshold: 0,
  })
  assert.deepEqual([decision, reasons, faceCount], ['uncertain', ['MULTIPLE_FACES'], 2])
})

test('A grey or blurred face is uncertain even if the score would be live', async () => {
  const original = sharp(await portrait.clone().png().toBuffer())
  for (const poor of [original.clone().greyscale(), original.clone().blur(8)]) {
    const { decision, reasons } = await checkLiveness(await poor.png().toBuffer(), { threshold: 0 })
    assert.deepEqual([decision, reasons], ['uncertain', ['LOW_QUALITY']])
  }
})

test('debug contains the built-in model and its scores for each of its six crops', async () => {
  const bytes = await portrait.clone().png().toBuffer()
  const { body } = await facegate.post({
    action: 'svc.liveness',
    debug: true,
    params: {
      images: [{ kind: 'image', contentType: 'image/png', bytes: bytes.toString('base64') }],
    },
  })
  const { debug } = body.data.results[0].value
  assert.equal(debug.providers.liveness, 'liveness@1')
  const crops = Object.keys(debug.scores).filter((name) => name.startsWith('liveness@1 at '))
  assert.equal(crops.length, 6)
  assert.ok(debug.timingsMs.liveness > 0)
})

test('One photograph sent for every frame of a challenge is not live', async () => {
  const headers = { 'x-api-key': facegate.key, 'content-type': 'application/json' }
  const created = await fetch(`${facegate.url}/v1/liveness/sessions`, {
    method: 'POST',
    headers,
    body: '{}',
  })
  const { sessionId: livenessSessionId, steps } = (await created.json()) as {
    sessionId: string
    steps: string[]
  }
  const bytes = (await portrait.clone().png().toBuffer()).toString('base64')
  const image = { kind: 'image', contentType: 'image/png', bytes }
  const params = { livenessSessionId, images: [image, ...steps.map(() => image)] }
  const { body } = await facegate.post({ action: 'svc.liveness', params })
  const [{ value }] = body.data.results
  assert.deepEqual([value.live, value.challenge.passed], [false, false])
  const refusals = new Set(['CHALLENGE_NOT_FOLLOWED', 'FRAMES_IDENTICAL'])
  assert.ok(value.reasons.some((reason: string) => refusals.has(reason)))
  assert.equal(value.challenge.samePerson, true)
  assert.deepEqual(schema?.parse(value), value)
})

test('An analysis without liveness in its request returns no liveness', async () => {
  await using pipeline = await openSet(builtinSet)
  const { bytes } = await samplePhotograph(1)
  const analysis = await pipeline.analyzeImage(encodedImageOf(bytes), plainRequest, 'image')
  assert.ok(analysis.faces.every(({ liveness }) => liveness === undefined))
  assert.equal(analysis.providers['liveness'], undefined)
  assert.equal(analysis.timingsMs.liveness, 0)
})

test(
  'The built-in model classifies neither of two samples wrongly',
  skipWithoutEvalData,
  async () => {
    assert.notEqual((await checkLiveness(await readFile(vendorSamples.live))).decision, 'spoof')
    assert.notEqual((await checkLiveness(await readFile(vendorSamples.spoof))).decision, 'live')
  },
)

test(
  'The recommended models classify both samples correctly, configured only by their manifests',
  skipWithoutEvalData,
  async () => {
    const withBuiltinDetector = withRecommendedLiveness()
    const withRecommendedDetector = {
      ...withBuiltinDetector,
      detector: recommendedModels().detector,
    }
    for (const set of [withBuiltinDetector, withRecommendedDetector]) {
      await using pipeline = await openSet(set)
      const vision = unlimitedVisionClient((image, request, { path }) =>
        pipeline.analyzeImage(image, request, path),
      )
      await using gallery = await startGallery({ vision })
      const resultOf = async (file: string) => {
        const { bytes, contentType } = encodedImageOf(await readFile(file))
        const params = { images: [{ kind: 'image', bytes, contentType }] }
        return gallery.value('svc.liveness', params, { debug: true })
      }
      const live = await resultOf(vendorSamples.live)
      assert.deepEqual([live.decision, live.live, live.reasons], ['live', true, []])
      assert.equal(live.threshold, 0.5)
      assert.equal(live.debug.providers.liveness, 'minifasnet-v2@1+minifasnet-v1se@1')
      const { scores } = live.debug
      const mean = (scores['minifasnet-v2@1'] + scores['minifasnet-v1se@1']) / 2
      assert.ok(Math.abs(live.score - mean) < 1e-4, 'both models have the same weight')
      const spoof = await resultOf(vendorSamples.spoof)
      assert.deepEqual([spoof.decision, spoof.live, spoof.reasons], ['spoof', false, []])
    }
  },
)

test(
  'A model with a wrong manifest is rejected with the name of its file',
  skipWithoutEvalData,
  async () => {
    const set = withRecommendedLiveness()
    if (set.liveness === 'builtin') throw new Error('installed models are expected')
    const [{ folder, model }] = set.liveness
    if (model.decoding.kind !== 'antispoof') throw new Error('an antispoof model is expected')
    const withDecoding = (change: object): ModelSet => ({
      ...set,
      liveness: [{ folder, model: { ...model, decoding: { ...model.decoding, ...change } } }],
    })
    await assert.rejects(
      openSet(withDecoding({ classes: 2 })),
      /MiniFASNetV2\.onnx: returns 3 classes/u,
    )
    await assert.rejects(
      openSet(withDecoding({ liveClass: 3 })),
      /MiniFASNetV2\.onnx: .*no class 3/u,
    )
    await assert.rejects(
      openSet(withDecoding({ spoofMax: 0.6 })),
      /MiniFASNetV2\.onnx: .*spoofMax .* liveMin/u,
    )
  },
)

const plainRequest = { minFaceConfidence: 0.6, minFaceSizePx: 20, maxFaces: 100, crops: false }

async function openSet(set: ModelSet) {
  const limits = { bytesMax: 8 * 2 ** 20, pixelsMax: 40_000_000, sideMinPx: 32 }
  const pipeline = await createPipeline({ modelsFolder, modelSet: set, limits })
  return { analyzeImage: pipeline.analyzeImage, [Symbol.asyncDispose]: pipeline.close }
}

function encodedImageOf(bytes: Buffer) {
  return { bytes: bytes.toString('base64'), contentType: 'image/jpeg' as const }
}
