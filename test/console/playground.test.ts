import assert from 'node:assert/strict'
import { test } from 'node:test'
import * as fc from 'fast-check'
import { allActions } from '../../src/actions/all-actions.ts'
import { livenessReasons } from '../../src/actions/schemas/liveness.ts'
import { qualityReasons } from '../../src/actions/parts/quality-reasons.ts'
import { toJsonSchema } from '../../src/actions/schemas/params-schema.ts'
import { alignmentOf } from '../../web/pair-tester/align-face.ts'
import { warningsOf } from '../../web/pair-tester/face-warnings.ts'
import { faceAnnotationsOf } from '../../web/playground/images/face-annotations.ts'
import { imageCountOf } from '../../web/playground/images/image-count.ts'
import { fitImages, refusalOf } from '../../web/playground/images/image-refusal.ts'
import { placeLabels, textColumns } from '../../web/playground/images/place-labels.ts'
import { falseMatchRateAt, formatRate, judgeLiveness } from '../../web/playground/result/judge.ts'
import { livenessReasonTexts, qualityReasonTexts } from '../../web/playground/result/words.ts'
import { runBlockers } from '../../web/playground/run-blockers.ts'

const metrics = { characterWidth: 7.5, lineHeight: 18, padding: 4 }

test('No label of a face is cut off by the image or overlaps another label', () => {
  const width = fc.integer({ min: 1, max: 900 })
  const position = fc.double({ min: -0.2, max: 1.1, noNaN: true })
  const share = fc.double({ min: 0.01, max: 1, noNaN: true })
  const face = fc.tuple(position, position, share, share, fc.string({ unit: 'grapheme' }))
  fc.assert(
    fc.property(width, width, fc.array(face, { maxLength: 40 }), (width, height, faces) => {
      const labelled = faces.map(([x, y, w, h, text]) => ({
        box: { left: x * width, top: y * height, width: w * width, height: h * height },
        text,
      }))
      const labels = placeLabels(labelled, { width, height }, metrics)
      for (const [index, { box, text }] of labels.entries()) {
        assert.ok(box.left >= 0 && box.left + box.width <= width + 1e-9, 'inside, horizontally')
        assert.ok(box.top >= 0 && box.top + box.height <= height + 1e-9, 'inside, vertically')
        assert.ok(textColumns(text) * metrics.characterWidth <= box.width, 'the text fits')
        for (const other of labels.slice(0, index)) assert.ok(!overlaps(box, other.box))
      }
    }),
  )
})

test('A label is next to its face, and every face of a crowd with room has one', () => {
  const at = (left: number, top: number) => ({ left, top, width: 60, height: 80 })
  const image = { width: 640, height: 480 }
  const [label] = placeLabels([{ box: at(100, 200), text: 'Olga · 0.97' }], image, metrics)
  assert.deepEqual([label?.text, label?.isDetached], ['Olga · 0.97', false])
  assert.equal((label?.box.top ?? 0) + 18 + 2, 200, 'above the face')
  const [atTop] = placeLabels([{ box: at(0, 0), text: 'Olga' }], image, metrics)
  assert.ok(atTop && atTop.box.top >= 0 && !atTop.isDetached)
  const same = Array.from({ length: 20 }, () => ({ box: at(300, 200), text: 'same place' }))
  assert.equal(placeLabels(same, image, metrics).length, 20)
  const tiny = placeLabels(
    [{ box: at(0, 0), text: 'a long name' }],
    { width: 40, height: 20 },
    metrics,
  )
  assert.equal(tiny[0]?.text, 'a l…', 'a label is shortened to the image')
  assert.deepEqual(placeLabels(same, { width: 5, height: 5 }, metrics), [])
})

const points = [
  { similarity: 0.7, rate: 1e-3 },
  { similarity: 0.8, rate: 1e-4 },
  { similarity: 0.9, rate: 1e-5 },
]

test('A false-match rate is interpolated on a logarithmic scale, and limited outside the table', () => {
  const rateText = (similarity: number) => {
    const rate = falseMatchRateAt(points, similarity)
    return rate && formatRate(rate)
  }
  assert.equal(rateText(0.8), 'about 1 of 10\u202F000 pairs of different people')
  assert.equal(rateText(0.75), 'about 1 of 3\u202F200 pairs of different people')
  assert.equal(rateText(0.99), 'at most 1 of 100\u202F000 pairs of different people')
  assert.equal(rateText(0.1), 'at least 1 of 1\u202F000 pairs of different people')
  assert.equal(falseMatchRateAt([], 0.8), undefined)
})

test('Another threshold decides a match and a liveness result as the service would', () => {
  const value = { decision: 'live', live: true, score: 0.8, threshold: 0.7, reasons: [] } as const
  assert.equal(judgeLiveness(value), 'live')
  assert.equal(judgeLiveness(value, 0.8), 'live')
  assert.equal(judgeLiveness(value, 0.81), 'notLive')
  const spoof = { ...value, decision: 'spoof', score: 0.2 } as const
  assert.equal(judgeLiveness(spoof, 0.21), 'spoof')
  assert.equal(judgeLiveness(spoof, 0.2), 'live')
  const inconclusive = {
    ...value,
    decision: 'uncertain',
    score: 0.6,
    reasons: ['INCONCLUSIVE'],
  } as const
  assert.equal(judgeLiveness(inconclusive, 0.9), 'uncertain')
  assert.equal(judgeLiveness(inconclusive, 0.6), 'live')
  const small = { ...value, decision: 'uncertain', reasons: ['FACE_TOO_SMALL'] } as const
  assert.equal(judgeLiveness(small, 0.1), 'uncertain', 'no threshold makes it live')
  const face = { boundingBox: { left: 1, top: 1, width: 9, height: 9 } }
  const verified = { probe: face, reference: null, similarity: 0.82, threshold: 0.8, matched: true }
  const envelope = { ok: true, data: { results: [{ index: 0, ok: true, value: verified }] } }
  const toneAt = (threshold?: number) => faceAnnotationsOf(envelope, threshold).get(0)?.[0]?.tone
  assert.deepEqual([toneAt(), toneAt(0.83), toneAt(0.5)], ['good', 'bad', 'good'])
})

test('Every reason of the service has a text', () => {
  assert.deepEqual(Object.keys(livenessReasonTexts).sort(), [...livenessReasons].sort())
  assert.deepEqual(Object.keys(qualityReasonTexts).sort(), [...qualityReasons].sort())
})

test('Each action takes the number of images that its parameters require', () => {
  const countOf = (name: string, params: object = {}) => {
    const action = allActions.find((candidate) => candidate.name === name)
    assert.ok(action)
    const paramsSchema = toJsonSchema(action.params, 'input') as Record<string, unknown>
    const hasImages = Object.hasOwn(Object(paramsSchema['properties']), 'images')
    const imagesMin = hasImages && name !== 'svc.updateSubject' ? 1 : 0
    const imagesMax = !hasImages ? 0 : /detect|attributes|updateSubject/u.test(name) ? 1 : 10
    const facts = { name, imagesMin, imagesMax, paramsSchema }
    const { min, max } = imageCountOf(facts, params as Record<string, unknown>)
    return [min, max]
  }
  const subjectId = 'a'
  assert.deepEqual(countOf('svc.detect'), [1, 1])
  assert.deepEqual(countOf('svc.enroll'), [1, 1])
  assert.deepEqual(countOf('svc.enroll', { allImages: true }), [1, 10])
  assert.deepEqual(countOf('svc.identify'), [1, 10])
  assert.deepEqual(countOf('svc.identify', { sameSubject: true }), [2, 10])
  assert.deepEqual(countOf('svc.verify'), [2, 2])
  assert.deepEqual(countOf('svc.verify', { subjectId }), [1, 1])
  assert.deepEqual(countOf('svc.verify', { externalId: 'e', sameSubject: true }), [2, 10])
  assert.deepEqual(countOf('svc.updateSubject', { subjectId }), [0, 1])
  assert.deepEqual(countOf('svc.deleteSubject'), [0, 0])
})

const limits = {
  imageBytesMax: 1000,
  imagePixelsMax: 10_000,
  imageSideMinPx: 32,
  bodyBytesMax: 20_000,
}
const jpeg = Uint8Array.of(0xff, 0xd8, 0xff, 0xe0, 0, 0, 0, 0)

test('A file that the service would refuse is refused before it is sent, with the remedy', () => {
  const file = { name: 'a.jpg', bytes: 1000, head: jpeg, size: { width: 100, height: 100 } }
  const refusal = (changes: object) => refusalOf({ ...file, ...changes }, limits) ?? ''
  assert.equal(refusal({}), '', 'a file at every limit is accepted')
  assert.match(refusal({ bytes: 1001 }), /a\.jpg has .* at most .* compress/u)
  assert.match(refusal({ bytes: 0 }), /empty/u)
  assert.match(refusal({ head: Buffer.from('GIF89a..') }), /neither JPEG nor PNG\. Convert/u)
  assert.match(refusal({ size: { width: 101, height: 100 } }), /101 × 100 pixels.*Scale it down/u)
  assert.match(refusal({ size: { width: 31, height: 100 } }), /at least 32.*larger picture/u)
  assert.equal(refusal({ size: { width: 32, height: 100 } }), '')
  assert.match(refusal({ size: undefined }), /damaged/u)
})

test('Images above the count or the size of a request are not added; a single image is replaced', () => {
  const image = (name: string, bytes = 10) => ({ name, base64: 'x'.repeat(bytes) })
  const fit = (current: string[], added: ReturnType<typeof image>[], countMax: number) => {
    const images = current.map((name) => image(name))
    const { accepted, refusals } = fitImages(images, added, { countMax, bodyBytesMax: 20_000 })
    return [accepted.map(({ name }) => name).join(''), refusals.length]
  }
  assert.deepEqual(fit(['a'], [image('b')], 1), ['b', 0])
  assert.deepEqual(fit([], [image('b'), image('c')], 1), ['b', 1])
  assert.deepEqual(fit(['a'], [], 1), ['a', 0])
  assert.deepEqual(fit(['a', 'b'], [image('c'), image('d')], 3), ['abc', 1])
  assert.deepEqual(fit(['a'], [image('b', 5000), image('c')], 10), ['ac', 1])
})

test('A call that cannot run states what is missing', () => {
  const imageCount = { min: 2, max: 2, text: '' }
  const problems = { subjectId: 'Required', attributes: 'Enter a JSON object' }
  const texts = runBlockers({ mayCall: false, problems, imageCount, imagesChosen: 1 })
  assert.deepEqual(texts, [
    'Calls are billed: the role admin is required.',
    'Add one image.',
    'Fill in subjectId.',
    'Correct attributes: Enter a JSON object.',
  ])
  assert.deepEqual(runBlockers({ mayCall: true, problems: {}, imageCount, imagesChosen: 2 }), [])
})

type Rectangle = { left: number; top: number; width: number; height: number }

function overlaps(a: Rectangle, b: Rectangle): boolean {
  const isApart =
    a.left + a.width <= b.left ||
    b.left + b.width <= a.left ||
    a.top + a.height <= b.top ||
    b.top + b.height <= a.top
  return !isApart
}

test('An aligned face has its eyes at fixed places', () => {
  const eyes = fc.record({
    left: fc.record({ x: fc.integer({ max: 900 }), y: fc.integer({ max: 900 }) }),
    angle: fc.double({ min: -3, max: 3, noNaN: true }),
    distance: fc.double({ min: 4, max: 400, noNaN: true }),
  })
  fc.assert(
    fc.property(eyes, ({ left: { x, y }, angle, distance }) => {
      const left = { x: x % 900, y: y % 900 }
      const right = {
        x: left.x + distance * Math.cos(angle),
        y: left.y + distance * Math.sin(angle),
      }
      const [a, b, c, d, e, f] = alignmentOf(left, right, 100)
      const move = (point: typeof left) => [
        a * point.x + c * point.y + e,
        b * point.x + d * point.y + f,
      ]
      const moved = [...move(left), ...move(right)].map((value) => Math.round(value))
      assert.deepEqual(moved, [33, 40, 67, 40])
    }),
  )
})

test('A comparison warns of poor quality, small faces and turned heads, at their limits', () => {
  const face = {
    boundingBox: { left: 0, top: 0, width: 100, height: 120 },
    pose: { yaw: -30, pitch: 0, roll: 0 },
    quality: { score: 75, level: 'high' as const },
  }
  assert.deepEqual(warningsOf(face, 0), [])
  const warned = warningsOf(
    {
      boundingBox: { ...face.boundingBox, width: 99 },
      pose: { ...face.pose, yaw: -31 },
      quality: { score: 74, level: 'medium' },
    },
    1,
  )
  assert.equal(warned.length, 3)
  for (const [index, text] of ['quality is 74', '99 pixels', '31°'].entries())
    assert.ok(warned[index]?.startsWith('Image 1: ') && warned[index]?.includes(text))
})
