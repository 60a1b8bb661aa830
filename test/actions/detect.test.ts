import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { after, before, test } from 'node:test'
import sharp from 'sharp'
import { createClient, type DetectParams } from '../../client/src/node.ts'
import {
  omitLargeCrops,
  replayCropsCharsMax,
  storedCropsCharsMax,
} from '../../src/actions/detect.ts'
import {
  imageItem,
  samplePhotograph,
  sharedFacegate,
  type TestFacegate,
  type TestImage,
} from '../support/facegate/test-facegate.ts'
import { closeSharedServices } from '../support/shared-service.ts'

let facegate: TestFacegate
before(async () => {
  facegate = await sharedFacegate()
})
after(closeSharedServices)

const jpeg = (bytes: Buffer): TestImage => ({ bytes, contentType: 'image/jpeg' })

async function detect(image: TestImage, params: object = {}) {
  const { body } = await facegate.run('svc.detect', image, params)
  assert.equal(body.ok, true, JSON.stringify(body))
  return body.data.results[0].value
}

test('Every face of the front rows of the sample photographs is detected, and no other face', async () => {
  const expected = [3, 3, 3, 4, 5, 4]
  for (const [index, count] of expected.entries()) {
    const n = (index + 1) as 1 | 2 | 3 | 4 | 5 | 6
    const { faceCount, faces, image } = await detect(await samplePhotograph(n))
    assert.equal(faceCount, count, `sample ${n}`)
    assert.equal(faces.length, count)
    assert.equal(image.width, 1920)
    for (const { boundingBox: box, landmarks } of faces)
      for (const { x, y } of Object.values<{ x: number; y: number }>(landmarks)) {
        // The tip of a nose in profile can be slightly outside the box.
        assert.ok(
          Math.abs(x - box.left - box.width / 2) < 0.6 * box.width,
          'the landmarks belong to this face',
        )
        assert.ok(
          Math.abs(y - box.top - box.height / 2) < 0.6 * box.height,
          'the landmarks belong to this face',
        )
      }
  }
})

test('Faces are returned largest first, numbered, and at most maxFaces', async () => {
  const photograph = await samplePhotograph(5)
  const all = await detect(photograph)
  const areas = all.faces.map(
    ({ boundingBox: { width, height } }: { boundingBox: { width: number; height: number } }) =>
      width * height,
  )
  assert.deepEqual(
    areas,
    areas.toSorted((a: number, b: number) => b - a),
  )
  assert.deepEqual(
    all.faces.map(({ faceIndex }: { faceIndex: number }) => faceIndex),
    [0, 1, 2, 3, 4],
  )
  const two = await detect(photograph, { maxFaces: 2 })
  assert.deepEqual(two.faces, all.faces.slice(0, 2))
  assert.equal(two.faceCount, 5, 'faceCount includes the faces beyond maxFaces')
})

test('The relative box is the box as fractions of the upright image', async () => {
  const { faces, image } = await detect(await samplePhotograph(3))
  for (const { boundingBox: box, relativeBoundingBox: relative } of faces) {
    assert.ok(Math.abs(relative.left * image.width - box.left) < 1)
    assert.ok(Math.abs(relative.top * image.height - box.top) < 1)
    assert.ok(Math.abs(relative.width * image.width - box.width) < 1)
    assert.ok(Math.abs(relative.height * image.height - box.height) < 1)
  }
})

test('Landmarks are omitted and crops are added on request', async () => {
  const photograph = await samplePhotograph(3)
  const withoutLandmarks = await detect(photograph, { returnLandmarks: false })
  assert.ok(!('landmarks' in withoutLandmarks.faces[0]) && !('crop' in withoutLandmarks.faces[0]))
  const { faces } = await detect(photograph, { returnCrops: true })
  const crop = await sharp(Buffer.from(faces[0].crop, 'base64')).metadata()
  assert.deepEqual([crop.format, crop.width, crop.height], ['jpeg', 112, 112])
})

test('Faces below the minimum size, confidence or quality of the request are ignored', async () => {
  const photograph = await samplePhotograph(5)
  assert.equal((await detect(photograph, { minFaceSize: 10_000 })).faceCount, 0)
  assert.equal((await detect(photograph, { minFaceConfidence: 1 })).faceCount, 0)
  assert.equal((await detect(photograph, { minQuality: 100 })).faceCount, 0)
  const scores = (await detect(photograph)).faces.map(
    ({ quality }: { quality: { score: number } }) => quality.score,
  )
  const middle = scores.toSorted((a: number, b: number) => a - b)[2]
  const good = await detect(photograph, { minQuality: middle })
  assert.equal(good.faceCount, scores.filter((score: number) => score >= middle).length)
})

test('facePolicy "single" rejects a group and accepts a portrait', async () => {
  const photograph = await samplePhotograph(3)
  const group = await facegate.run('svc.detect', photograph, { facePolicy: 'single' })
  assert.equal(group.body.errors[0].code, 'MULTIPLE_FACES')
  const window = { left: 1360, top: 310, width: 560, height: 315 }
  const portrait = await sharp(photograph.bytes).extract(window).jpeg().toBuffer()
  assert.equal((await detect(jpeg(portrait), { facePolicy: 'single' })).faceCount, 1)
})

test('An image without a face returns an empty list', async () => {
  const empty = sharp({ create: { width: 640, height: 480, channels: 3, background: '#8899aa' } })
  const { faceCount, faces } = await detect(jpeg(await empty.jpeg().toBuffer()))
  assert.equal(faceCount, 0)
  assert.deepEqual(faces, [])
})

test('A large photograph has the same faces as a smaller one', async () => {
  const { bytes } = await samplePhotograph(5)
  const small = await detect(jpeg(bytes))
  const large = await detect(
    jpeg(
      await sharp(bytes)
        .resize(1920 * 2)
        .jpeg()
        .toBuffer(),
    ),
  )
  assert.equal(large.faceCount, small.faceCount)
  for (const [index, { boundingBox }] of large.faces.entries())
    for (const side of ['left', 'top', 'width', 'height']) {
      const difference = boundingBox[side] / 2 - small.faces[index].boundingBox[side]
      assert.ok(Math.abs(difference) <= 6, `${side} of face ${index} differs by ${difference}`)
    }
})

test('A face at the image border is detected', async () => {
  const photograph = await samplePhotograph(6)
  const { faces } = await detect(photograph)
  const rightmost = faces.toSorted(
    (a: { boundingBox: { left: number } }, b: { boundingBox: { left: number } }) =>
      b.boundingBox.left - a.boundingBox.left,
  )[0].boundingBox
  const width = Math.round(rightmost.left + 0.55 * rightmost.width)
  const cropped = await sharp(photograph.bytes)
    .extract({ left: 0, top: 0, width, height: 1537 })
    .jpeg()
    .toBuffer()
  const detected = await detect(jpeg(cropped))
  assert.equal(detected.faceCount, 4)
  const touchesBorder = ({ boundingBox: box }: { boundingBox: { left: number; width: number } }) =>
    box.left + box.width === width
  assert.ok(detected.faces.some(touchesBorder), 'its box ends at the border')
})

test('A face has the same box in the upright image for all eight EXIF orientations', async () => {
  const { bytes } = await samplePhotograph(6)
  const upright = await sharp(bytes).resize(1200).toBuffer()
  const expected = (await detect(jpeg(upright))).faces[0].boundingBox
  for (let orientation = 1; orientation <= 8; orientation++) {
    const stored = await storedWithOrientation(upright, orientation)
    const { faces, image } = await detect(jpeg(stored))
    assert.equal(image.orientationApplied, orientation > 1)
    assert.equal(image.width, 1200)
    for (const side of ['left', 'top', 'width', 'height'])
      assert.ok(
        Math.abs(faces[0].boundingBox[side] - expected[side]) <= 2,
        `orientation ${orientation}: ${side} ${faces[0].boundingBox[side]}, not ${expected[side]}`,
      )
  }
})

/** Returns the image as a rotated camera would store it: with rotated pixels and the EXIF tag. */
async function storedWithOrientation(upright: Buffer, orientation: number): Promise<Buffer> {
  const degrees = [0, 0, 0, 180, 180, 270, 270, 90, 90][orientation] ?? 0
  const isMirrored = [2, 4, 5, 7].includes(orientation)
  let pixels = sharp(upright)
  if (isMirrored) pixels = sharp(await pixels.flop().png().toBuffer())
  return pixels.rotate(degrees).withMetadata({ orientation }).jpeg({ quality: 95 }).toBuffer()
}

/** Returns a call of svc.detect with the crops of ten pictures of five people, or of another picture. */
async function detectCrops(params: object = {}, picture?: Buffer) {
  const bytes = picture ?? (await samplePhotograph(5)).bytes
  const images = await Promise.all(
    Array.from({ length: 10 }, async (_, nth) => {
      const size = { width: 1920 - nth }
      return imageItem({
        bytes: await sharp(bytes).resize(size).jpeg().toBuffer(),
        contentType: 'image/jpeg',
      })
    }),
  )
  const all = { images, allImages: true, returnCrops: true, ...params }
  return { action: 'svc.detect', requestId: randomUUID(), params: all }
}

type Detected = { readonly value: { readonly faces: readonly { readonly crop?: string }[] } }

const cropsOf = (results: readonly Detected[]) =>
  results.flatMap(({ value }) => value.faces.map(({ crop }) => crop))

test('Large crops are stored for replays only with replayCrops', async () => {
  const { post, url, key } = facegate
  const call = await detectCrops()
  const first = (await post(call)).body
  const crops = cropsOf(first.data.results)
  assert.ok(crops.join('').length > storedCropsCharsMax, String(crops.join('').length))

  const replay = (await post(call)).body
  assert.deepEqual(replay.meta, { idempotencyReplay: true, cropsOmitted: true })
  assert.deepEqual(new Set(cropsOf(replay.data.results)), new Set([undefined]))
  for (const { value } of first.data.results) for (const face of value.faces) delete face.crop
  assert.deepEqual(replay.data, first.data)

  const client = createClient({ baseUrl: url, apiKey: key })
  const { requestId, params } = call
  const outcome = await client.execute('svc.detect', params as object as DetectParams, {
    requestId,
  })
  assert.deepEqual([outcome.isReplay, outcome.areCropsOmitted], [true, true])

  const kept = await detectCrops({ replayCrops: true })
  const original = (await post(kept)).body
  assert.deepEqual((await post(kept)).body, { ...original, meta: { idempotencyReplay: true } })
})

test('With replayCrops, a replay contains no crops if they are too large for a free response', async () => {
  const { post } = facegate
  const { bytes } = await samplePhotograph(5)
  const { data, info } = await sharp(bytes).resize(960).toBuffer({ resolveWithObject: true })
  const tile = [0, 1, 2, 3].map((nth) => ({
    input: data,
    left: (nth % 2) * info.width,
    top: Math.floor(nth / 2) * info.height,
  }))
  const size = { width: 2 * info.width, height: 2 * info.height, channels: 3 as const }
  const mosaic = sharp({ create: { ...size, background: 'gray' } }).composite(tile)
  const call = await detectCrops({ replayCrops: true }, await mosaic.jpeg().toBuffer())

  const crops = cropsOf((await post(call)).body.data.results)
  assert.ok(crops.join('').length > replayCropsCharsMax, String(crops.join('').length))
  const replay = (await post(call)).body
  assert.deepEqual(replay.meta, { idempotencyReplay: true, cropsOmitted: true })
  assert.deepEqual(new Set(cropsOf(replay.data.results)), new Set([undefined]))
})

test('Crops of exactly the limit are stored, and of one character more are not', () => {
  const half = 'a'.repeat(replayCropsCharsMax / 2)
  type Outcomes = Parameters<typeof omitLargeCrops>[0]
  const outcomesWith = (...crops: readonly string[]) =>
    crops.map((crop) => ({
      correlationId: 'c',
      value: { faces: [{ crop }] },
    })) as object as Outcomes
  const areStored = (...crops: readonly string[]) =>
    omitLargeCrops(outcomesWith(...crops), replayCropsCharsMax).map(
      (outcome) => !('valueWithoutCrops' in outcome),
    )
  assert.deepEqual(areStored(half, half), [true, true])
  assert.deepEqual(areStored(half, `${half}a`), [false, false])
})

test('Small crops are part of a replay', async () => {
  const { post } = facegate
  const requestId = randomUUID()
  const params = { images: [imageItem(await samplePhotograph(5))], returnCrops: true }
  const call = { action: 'svc.detect', requestId, params }
  const first = (await post(call)).body
  assert.ok(cropsOf(first.data.results)[0])
  assert.deepEqual((await post(call)).body, { ...first, meta: { idempotencyReplay: true } })
})
