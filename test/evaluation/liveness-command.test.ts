import assert from 'node:assert/strict'
import { mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { after, before, test } from 'node:test'
import sharp from 'sharp'
import { classifyLiveness } from '../../src/actions/parts/classify-liveness.ts'
import type { AnalyzedPresentation } from '../../src/evaluation/liveness/analyze-presentations.ts'
import { fitLogistic } from '../../eval/liveness/fit-logistic.ts'
import { createLivenessReport } from '../../src/evaluation/liveness/liveness-report.ts'
import { simulatePresentation } from '../../eval/liveness/simulate-presentation.ts'
import { seededRandom } from '../../src/lib/random/seeded-random.ts'
import type { BoundingBox } from '../../src/vision/image/geometry.ts'
import { prepareBuiltinPack } from '../../src/models/builtin/prepare-builtin-pack.ts'
import { createDataDir, samplePhotograph } from '../support/facegate/test-facegate.ts'
import { modelsFolder } from '../support/vision/test-pipeline.ts'
import { faceQualityOf } from '../support/gallery/fake-vision.ts'
import { cliOutput } from '../support/cli/run-cli.ts'

let dataDir: string
let folder: string
before(async () => {
  await prepareBuiltinPack({ folder: modelsFolder })
  dataDir = await createDataDir()
  folder = await mkdtemp(path.join(tmpdir(), 'facegate-liveness-'))
  const { bytes } = await samplePhotograph(6)
  const woman = sharp(bytes).extract({ left: 1330, top: 130, width: 560, height: 620 })
  const { data: pixels } = await woman.clone().raw().toBuffer({ resolveWithObject: true })
  const frame = { width: 560, height: 620, pixels }
  for (const kind of ['live', 'print', 'replay'] as const) {
    await mkdir(path.join(folder, kind))
    for (const seed of [1, 2])
      await writeFile(
        path.join(folder, kind, `${seed}.jpg`),
        await simulatePresentation(kind, frame, seededRandom(seed)),
      )
  }
  await sharp({ create: { width: 90, height: 90, channels: 3, background: 'grey' } })
    .png()
    .toFile(path.join(folder, 'print', 'wall.png'))
})
after(async () => {
  await rm(dataDir, { recursive: true })
  await rm(folder, { recursive: true })
})

function evaluate(...args: string[]): Promise<string> {
  return cliOutput(['evaluate', 'liveness', ...args], { DATA_DIR: dataDir, VISION_WORKERS: '1' })
}

test('A folder of live people and attacks is evaluated per kind and drawn', async () => {
  const curve = path.join(folder, 'det.png')
  const report = JSON.parse(await evaluate(folder, '--json', '--out', curve))
  assert.equal(report.networks, 'liveness@1')
  assert.equal(report.threshold, 0.9)
  assert.deepEqual(
    report.asAnswered.kinds.map(({ kind, presentations, unusable }: Record<string, unknown>) => [
      kind,
      presentations,
      unusable,
    ]),
    [
      ['live', 2, 0],
      ['print', 3, 1],
      ['replay', 2, 0],
    ],
  )
  assert.deepEqual(report.unusable, [
    { file: path.join(folder, 'print', 'wall.png'), reason: 'NO_FACE_FOUND' },
  ])
  assert.deepEqual((await readFile(curve)).subarray(1, 4).toString(), 'PNG')
})

test('Labels can come from a file, and missing live people or attacks are an error', async () => {
  const labels = path.join(folder, 'labels.csv')
  await writeFile(
    labels,
    'file,label,source\nlive/1.jpg,live,x\nprint/1.jpg,paper mask,y\nnone.jpg,print,z\n',
  )
  const text = await evaluate(folder)
  assert.match(text, /paper mask: 1 images, live/u)
  assert.match(text, /BPCER/u)
  assert.match(text, /unusable {3}\S+none\.jpg: FILE_NOT_FOUND/u)
  await writeFile(labels, 'file,label\nlive/1.jpg,live\n')
  await assert.rejects(evaluate(folder), /has no attacks/u)
  await writeFile(labels, 'file,label\nprint/1.jpg,print\n')
  await assert.rejects(evaluate(folder), /no images of live people/u)
})

test('Rates are reported by score and by decision, and uncertain results count as non-responses', () => {
  const report = createLivenessReport([
    ...[0.95, 0.9, 0.6, 0.45].map((score) => livenessSample('live', score)),
    ...[0.1, 0.2, 0.3, 0.55].map((score) => livenessSample('print', score)),
    ...[0.1, 0.45].map((score) => livenessSample('replay', score)),
    { kind: 'replay', file: 'x.jpg', unusable: 'NO_FACE_FOUND' },
  ])
  const { apcer, bpcer, acer, attacks } = report.byScore
  assert.deepEqual([apcer, bpcer, acer], [0.25, 0.25, 0.25])
  assert.deepEqual(
    attacks.map(({ kind, apcer, equalErrorRate }) => [kind, apcer, equalErrorRate]),
    [
      ['print', 0.25, 0.25],
      // The attack at 0.45 has the same score as a live face, so it counts half.
      ['replay', 0, 0.125],
    ],
  )
  // At 10 % none of the four live faces may be rejected, so the threshold is 0.45.
  assert.deepEqual(attacks[0]?.apcerAtBpcer.at(-1), { bpcer: 0.1, apcer: 0.25 })
  assert.equal(report.asAnswered.apcer, 0.25)
  assert.equal(report.asAnswered.bpcer, 0)
  assert.equal(report.asAnswered.bonaFideNonResponse, 0.25)
  assert.equal(report.asAnswered.attackNonResponse, 2 / 3)
})

test('Uncertain results are split by the reasons of the decision', () => {
  const small = { left: 100, top: 100, width: 50, height: 50 }
  const between = livenessSample('live', 0.45)
  const report = createLivenessReport([
    between,
    livenessSample('live', 0.9, { boundingBox: small }),
    livenessSample('live', 0.9, { boundingBox: small, faceCount: 2 }),
    livenessSample('live', 0.9, { faceCount: 2 }),
    livenessSample('live', 0.9, { faceCount: 2 }),
    livenessSample('print', 0.1),
    livenessSample('print', 0.1, { faceCount: 2 }),
  ])
  const [live, print] = report.asAnswered.kinds
  assert.ok(live && print)
  const [reason] = classifyLiveness(between.face, between.analysis, {
    threshold: undefined,
    requireSingleFace: true,
  }).reasons
  assert.ok(reason)
  assert.equal(live.uncertain, 5)
  assert.deepEqual(live.uncertainReasons, [
    { reason: 'MULTIPLE_FACES', images: 3, alone: 2 },
    { reason: 'FACE_TOO_SMALL', images: 2, alone: 1 },
    { reason, images: 1, alone: 1 },
  ])
  assert.deepEqual([print.spoof, print.uncertainReasons], [2, []], 'a spoof is not uncertain')
})

test('The logistic fit finds the weights that produced the labels', () => {
  const random = seededRandom(7)
  const rows = Array.from({ length: 4000 }, () => {
    const values = [4 * random() - 2, 4 * random() - 2]
    const [a = 0, b = 0] = values
    return { values, isLive: random() < 1 / (1 + Math.exp(-(2 * a - b))) }
  })
  const { weights, bias } = fitLogistic(rows)
  const coefficients = [...weights, bias]
  for (const [index, expected] of [2, -1, 0].entries())
    assert.ok(Math.abs((coefficients[index] ?? 9) - expected) < 0.2, coefficients.join(', '))
})

function livenessSample(
  kind: string,
  score: number,
  {
    boundingBox = { left: 100, top: 100, width: 100, height: 100 },
    faceCount = 1,
  }: { readonly boundingBox?: BoundingBox; readonly faceCount?: number } = {},
): AnalyzedPresentation {
  const point = { x: 50, y: 50 }
  const face = {
    boundingBox,
    confidence: 0.99,
    landmarks: {
      leftEye: point,
      rightEye: point,
      noseTip: point,
      leftMouth: point,
      rightMouth: point,
    },
    pose: { yaw: 0, pitch: 0, roll: 0 },
    qualityScore: 90,
    quality: faceQualityOf(200),
    liveness: {
      score,
      liveMin: 0.5,
      spoofMax: 0.4,
      networks: {},
      isBuiltin: false,
      hasContext: true,
      hasColour: true,
    },
  }
  const analysis = {
    width: 400,
    height: 400,
    orientationApplied: false,
    faceCount,
    faceSidesPx: Array.from({ length: faceCount }, () => boundingBox.width),
    faces: [face],
    timingsMs: {
      decode: 0,
      detect: 0,
      landmarks: 0,
      align: 0,
      embed: 0,
      liveness: 0,
      attributes: 0,
      picture: 0,
    },
    providers: { liveness: 'a@1' },
  }
  return { kind, file: 'a.jpg', analysis, face }
}
