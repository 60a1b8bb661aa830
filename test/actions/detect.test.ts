import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import sharp from 'sharp'
import {
  samplePhotograph,
  startFacegate,
  type TestFacegate,
  type TestImage,
} from '../support/facegate/test-facegate.ts'

let facegate: TestFacegate
before(async () => {
  facegate = await startFacegate({ VISION_WORKERS: '1' })
})
after(() => facegate[Symbol.asyncDispose]())

const jpeg = (bytes: Buffer): TestImage => ({ bytes, contentType: 'image/jpeg' })

async function detect(image: TestImage, params: object = {}) {
  const { body } = await facegate.run('svc.detect', image, params)
  assert.equal(body.ok, true, JSON.stringify(body))
  return body.data.results[0].value
}

test('every face of the front rows of the sample photographs is found, and nobody else', async () => {
  const expected = [3, 3, 3, 4, 5, 4]
  for (const [index, count] of expected.entries()) {
    const n = (index + 1) as 1 | 2 | 3 | 4 | 5 | 6
    const { faceCount, faces, image } = await detect(await samplePhotograph(n))
    assert.equal(faceCount, count, `sample ${n}`)
    assert.equal(faces.length, count)
    assert.equal(image.width, 1920)
    for (const { boundingBox: box, landmarks } of faces)
      for (const { x, y } of Object.values<{ x: number; y: number }>(landmarks)) {
        // The tip of a nose in profile may stand out of it a little.
        assert.ok(Math.abs(x - box.left - box.width / 2) < 0.6 * box.width, 'landmarks are its own')
        assert.ok(
          Math.abs(y - box.top - box.height / 2) < 0.6 * box.height,
          'landmarks are its own',
        )
      }
  }
})

test('faces come largest first, numbered, and no more than asked for', async () => {
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
  assert.equal(two.faceCount, 5, 'how many there are is told all the same')
})

test('the relative box is the box in parts of the upright image', async () => {
  const { faces, image } = await detect(await samplePhotograph(3))
  for (const { boundingBox: box, relativeBoundingBox: relative } of faces) {
    assert.ok(Math.abs(relative.left * image.width - box.left) < 1)
    assert.ok(Math.abs(relative.top * image.height - box.top) < 1)
    assert.ok(Math.abs(relative.width * image.width - box.width) < 1)
    assert.ok(Math.abs(relative.height * image.height - box.height) < 1)
  }
})

test('landmarks are left out and crops put in on request', async () => {
  const photograph = await samplePhotograph(3)
  const bare = await detect(photograph, { returnLandmarks: false })
  assert.ok(!('landmarks' in bare.faces[0]) && !('crop' in bare.faces[0]))
  const { faces } = await detect(photograph, { returnCrops: true })
  const crop = await sharp(Buffer.from(faces[0].crop, 'base64')).metadata()
  assert.deepEqual([crop.format, crop.width, crop.height], ['jpeg', 112, 112])
})

test('faces that are too small, too unsure or too bad for the caller are passed over', async () => {
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

test('facePolicy "single" refuses a group and takes a portrait', async () => {
  const photograph = await samplePhotograph(3)
  const group = await facegate.run('svc.detect', photograph, { facePolicy: 'single' })
  assert.equal(group.body.errors[0].code, 'MULTIPLE_FACES')
  const window = { left: 1360, top: 310, width: 560, height: 315 }
  const portrait = await sharp(photograph.bytes).extract(window).jpeg().toBuffer()
  assert.equal((await detect(jpeg(portrait), { facePolicy: 'single' })).faceCount, 1)
})

test('no face is a success with an empty list', async () => {
  const empty = sharp({ create: { width: 640, height: 480, channels: 3, background: '#8899aa' } })
  const { faceCount, faces } = await detect(jpeg(await empty.jpeg().toBuffer()))
  assert.equal(faceCount, 0)
  assert.deepEqual(faces, [])
})

test('a large photograph shows the same faces as a smaller one', async () => {
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

test('a face that the border cuts is found', async () => {
  const photograph = await samplePhotograph(6)
  const { faces } = await detect(photograph)
  const rightmost = faces.toSorted(
    (a: { boundingBox: { left: number } }, b: { boundingBox: { left: number } }) =>
      b.boundingBox.left - a.boundingBox.left,
  )[0].boundingBox
  const width = Math.round(rightmost.left + 0.55 * rightmost.width)
  const cut = await sharp(photograph.bytes)
    .extract({ left: 0, top: 0, width, height: 1537 })
    .jpeg()
    .toBuffer()
  const found = await detect(jpeg(cut))
  assert.equal(found.faceCount, 4)
  const touches = ({ boundingBox: box }: { boundingBox: { left: number; width: number } }) =>
    box.left + box.width === width
  assert.ok(found.faces.some(touches), 'its box ends at the border')
})

test('the same face in all eight EXIF orientations has one box in the upright frame', async () => {
  const { bytes } = await samplePhotograph(6)
  const upright = await sharp(bytes).resize(1200).toBuffer()
  const plain = (await detect(jpeg(upright))).faces[0].boundingBox
  for (let orientation = 1; orientation <= 8; orientation++) {
    const stored = await storedWithOrientation(upright, orientation)
    const { faces, image } = await detect(jpeg(stored))
    assert.equal(image.orientationApplied, orientation > 1)
    assert.equal(image.width, 1200)
    for (const side of ['left', 'top', 'width', 'height'])
      assert.ok(
        Math.abs(faces[0].boundingBox[side] - plain[side]) <= 2,
        `orientation ${orientation}: ${side} ${faces[0].boundingBox[side]}, not ${plain[side]}`,
      )
  }
})

/** The picture as a camera held otherwise would store it: turned back, and the tag that says so. */
async function storedWithOrientation(upright: Buffer, orientation: number): Promise<Buffer> {
  const degrees = [0, 0, 0, 180, 180, 270, 270, 90, 90][orientation] ?? 0
  const isMirrored = [2, 4, 5, 7].includes(orientation)
  let pixels = sharp(upright)
  if (isMirrored) pixels = sharp(await pixels.flop().png().toBuffer())
  return pixels.rotate(degrees).withMetadata({ orientation }).jpeg({ quality: 95 }).toBuffer()
}
