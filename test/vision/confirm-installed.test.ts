import assert from 'node:assert/strict'
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { after, before, test } from 'node:test'
import { builtinSet, type InstalledModel } from '../../src/models/model-set.ts'
import { packManifest, type PackManifestInput } from '../../src/models/pack-manifest.ts'
import type { FaceResult, ImageAnalysis } from '../../src/vision/image-analysis.ts'
import type { Point, Rect } from '../../src/vision/image/geometry.ts'
import { samplePortrait } from '../support/facegate/sample-portrait.ts'
import { samplePhotograph } from '../support/facegate/test-facegate.ts'
import {
  constantNetwork,
  constantSidePx,
  yunetOutputs,
} from '../support/models/constant-network.ts'
import { recommendedModels, skipWithoutEvalData } from '../support/models/recommended-models.ts'
import { smallRecognizer } from '../support/models/small-network.ts'
import { evalDataFolder } from '../support/paths.ts'
import {
  landmarkDistancePx,
  largestFace,
  openTestPipeline,
} from '../support/vision/test-pipeline.ts'

let folder: string
/** One woman near the camera. */
let portrait: Buffer
let analysis: ImageAnalysis
let face: FaceResult
before(async () => {
  folder = await mkdtemp(path.join(tmpdir(), 'facegate-detectors-'))
  portrait = await samplePortrait()
  const pipeline = await openTestPipeline()
  analysis = await pipeline.analyze(portrait)
  face = largestFace(analysis)
  await pipeline.close()
})
after(() => rm(folder, { recursive: true }))

const decoding = {
  kind: 'yunet',
  scoreThreshold: 0.5,
  certainScore: 0.8,
  overlapMax: 0.35,
} as const

/** Installs a YuNet that reports one face of the portrait, whatever the image shows. */
async function installConstantDetector(
  box: Rect,
  points: readonly Point[],
  score: number,
  confirmBelow?: number,
) {
  const scale = constantSidePx / Math.max(analysis.width, analysis.height)
  const bytes = constantNetwork(
    yunetOutputs({
      score,
      box: {
        x: box.x * scale,
        y: box.y * scale,
        width: box.width * scale,
        height: box.height * scale,
      },
      points: points.map(({ x, y }) => ({ x: x * scale, y: y * scale })),
    }),
  )
  await writeFile(path.join(folder, 'constant.onnx'), bytes)
  const model = smallRecognizer('constant', {
    role: 'detector',
    input: { width: constantSidePx, height: constantSidePx, colourOrder: 'BGR' },
    decoding: { ...decoding, confirmBelow },
  })
  return installedModel(model)
}

function installedModel(model: PackManifestInput['models'][number]): InstalledModel {
  const manifest = { schema: 1, name: 'constant', description: 'of a test', models: [model] }
  const [parsed] = packManifest.parse(manifest).models
  return { folder, model: parsed ?? assert.fail() }
}

/** Analyzes an image with an installed detector and the built-in mesh. */
async function analyzeWith(detector: InstalledModel, bytes: Buffer): Promise<ImageAnalysis> {
  const pipeline = await openTestPipeline({ ...builtinSet, detector })
  try {
    return await pipeline.analyze(bytes)
  } finally {
    await pipeline.close()
  }
}

/** The five landmarks in the order of a detector. */
const pointsOf = ({ leftEye, rightEye, noseTip, leftMouth, rightMouth }: FaceResult['landmarks']) =>
  [leftEye, rightEye, noseTip, leftMouth, rightMouth] as const

test('The mesh rejects a place without a face, whatever score an installed detector gives it', async () => {
  const { left, top, width, height } = face.boundingBox
  // A collar: the place of the face, moved to the lower border.
  const shift = analysis.height - top - height / 2
  const box = { x: left, y: top + shift, width, height }
  const points = pointsOf(face.landmarks).map(({ x, y }) => ({ x, y: y + shift }))
  for (const score of [0.6, 0.868, 0.99]) {
    const detector = await installConstantDetector(box, points, score)
    assert.equal((await analyzeWith(detector, portrait)).faceCount, 0, `score ${score}`)
  }
})

test('A score from the limit of the manifest on needs no confirmation by the mesh', async () => {
  const { left, top, width, height } = face.boundingBox
  const shift = analysis.height - top - height / 2
  const box = { x: left, y: top + shift, width, height }
  const points = pointsOf(face.landmarks).map(({ x, y }) => ({ x, y: y + shift }))
  for (const [score, faceCount] of [
    [0.89, 0],
    [0.91, 1],
  ] as const) {
    const detector = await installConstantDetector(box, points, score, 0.9)
    assert.equal((await analyzeWith(detector, portrait)).faceCount, faceCount, `score ${score}`)
  }
})

test('The mesh confirms the face at its place with every such score', async () => {
  const { left: x, top: y, width, height } = face.boundingBox
  for (const score of [0.6, 0.868, 0.99]) {
    const points = pointsOf(face.landmarks)
    const detector = await installConstantDetector({ x, y, width, height }, points, score)
    const found = await analyzeWith(detector, portrait)
    assert.equal(found.faceCount, 1, `score ${score}`)
    assert.ok(landmarkDistancePx(largestFace(found), face) < 0.1 * width)
  }
})

test(
  'The mesh that confirms a face below the highest scores does not start from the points of the detector',
  skipWithoutEvalData,
  async () => {
    const { detector } = recommendedModels()
    // With these limits the score of a dog's face, 0.70, has a confidence of 0.89.
    const lenient: InstalledModel = {
      ...detector,
      model: {
        ...detector.model,
        decoding: {
          ...detector.model.decoding,
          ...decoding,
          scoreThreshold: 0.3,
          certainScore: 0.6,
        },
      } as InstalledModel['model'],
    }
    const dogs = await readFile(path.join(evalDataFolder, 'detection/public/dogs.jpg'))
    assert.equal((await analyzeWith(lenient, dogs)).faceCount, 0)
    const { faceCount } = await analyzeWith(lenient, (await samplePhotograph(5)).bytes)
    assert.equal(faceCount, 5)
  },
)
