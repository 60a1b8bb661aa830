import assert from 'node:assert/strict'
import { toEncodedImage } from '../../../src/evaluation/face-images.ts'
import { builtinSet, type ModelSet } from '../../../src/models/model-set.ts'
import { prepareBuiltinPack } from '../../../src/models/builtin/prepare-builtin-pack.ts'
import {
  prepareOptimizedNetworks,
  type Int8Mode,
} from '../../../src/vision/optimized/optimized-networks.ts'
import { createPipeline, type Pipeline } from '../../../src/vision/pipeline.ts'
import type {
  AnalysisRequest,
  FaceResult,
  ImageAnalysis,
} from '../../../src/vision/image-analysis.ts'
import type { BoundingBox, Point } from '../../../src/vision/image/geometry.ts'
import { testModelsFolder } from '../paths.ts'

/** Converted models are kept between test runs and are verified before use. */
export const modelsFolder = testModelsFolder

export const defaultRequest: AnalysisRequest = {
  minFaceConfidence: 0.6,
  minFaceSizePx: 20,
  maxFaces: 100,
  crops: false,
}

export type TestPipeline = Pipeline & {
  readonly analyze: (bytes: Buffer, request?: Partial<AnalysisRequest>) => Promise<ImageAnalysis>
}

/** The pipeline of the built-in networks, which the test files of a process share. */
let builtinPipeline: Promise<Pipeline> | undefined

/** Opens a pipeline without a server. It reads the type of an image from its bytes. */
export async function openTestPipeline(
  modelSet: ModelSet = builtinSet,
  int8: Int8Mode = 'off',
): Promise<TestPipeline> {
  if (modelSet !== builtinSet || int8 !== 'off')
    return toTestPipeline(await openPipeline(modelSet, int8))
  builtinPipeline ??= openPipeline(builtinSet)
  // It stays open for the next file.
  return { ...toTestPipeline(await builtinPipeline), close: async () => {} }
}

async function openPipeline(modelSet: ModelSet, int8?: Int8Mode): Promise<Pipeline> {
  await prepareBuiltinPack({ folder: modelsFolder })
  const limits = { bytesMax: 8 * 2 ** 20, pixelsMax: 40_000_000, sideMinPx: 32 }
  const optimizedFolder = await prepareOptimizedNetworks({
    modelsFolder,
    modelSet,
    ...(int8 && { int8 }),
  })
  return createPipeline({ modelsFolder, optimizedFolder, modelSet, limits })
}

function toTestPipeline(pipeline: Pipeline): TestPipeline {
  return {
    ...pipeline,
    analyze(bytes, request) {
      const image = toEncodedImage(bytes)
      return pipeline.analyzeImage(image, { ...defaultRequest, ...request }, 'params.images[0]')
    },
  }
}

export function largestFace(analysis: ImageAnalysis): FaceResult {
  const [face] = analysis.faces
  assert.ok(face, 'a face is found')
  return face
}

/** Asserts that no edge of the box differs by more than `tolerancePx`. */
export function assertBoxNear(
  actual: BoundingBox,
  expected: BoundingBox,
  tolerancePx: number,
): void {
  const edges = ({ left, top, width, height }: BoundingBox) => [
    left,
    top,
    left + width,
    top + height,
  ]
  for (const [index, edge] of edges(actual).entries())
    assert.ok(
      Math.abs(edge - (edges(expected)[index] ?? 0)) <= tolerancePx,
      `${JSON.stringify(actual)} is not ${JSON.stringify(expected)}`,
    )
}

/** Returns the largest distance between landmarks of the same name, px. */
export function landmarkDistancePx(a: FaceResult, b: FaceResult): number {
  const names = Object.keys(a.landmarks) as (keyof FaceResult['landmarks'])[]
  return Math.max(...names.map((name) => distance(a.landmarks[name], b.landmarks[name])))
}

function distance(a: Point, b: Point): number {
  return Math.hypot(a.x - b.x, a.y - b.y)
}
