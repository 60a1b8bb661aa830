import assert from 'node:assert/strict'
import { builtinSet, type ModelSet } from '../../../src/models/model-set.ts'
import { prepareBuiltinPack } from '../../../src/models/builtin/prepare-builtin-pack.ts'
import { createPipeline, type Pipeline } from '../../../src/vision/pipeline.ts'
import type {
  BoundingBox,
  AnalysisRequest,
  Point,
  FaceResult,
  ImageAnalysis,
} from '../../../src/vision/image-analysis.ts'
import { testModelsFolder } from '../paths.ts'

/** Converted models are kept between runs; preparing them checks them. */
export const modelsFolder = testModelsFolder

export const defaultRequest: AnalysisRequest = {
  minFaceConfidence: 0.6,
  minFaceSizePx: 20,
  maxFaces: 100,
  crops: false,
}

export type TestPipeline = {
  readonly analyze: (bytes: Buffer, look?: Partial<AnalysisRequest>) => Promise<ImageAnalysis>
  readonly close: Pipeline['close']
}

/** The pipeline without the service around it; the type of a picture is read from its bytes. */
export async function openTestPipeline(set: ModelSet = builtinSet): Promise<TestPipeline> {
  await prepareBuiltinPack({ folder: modelsFolder })
  const limits = { bytesMax: 8 * 2 ** 20, pixelsMax: 40_000_000, sideMinPx: 32 }
  const pipeline = await createPipeline({ modelsFolder, modelSet: set, limits })
  return {
    close: pipeline.close,
    analyze(bytes, look) {
      const contentType = bytes[0] === 0x89 ? 'image/png' : 'image/jpeg'
      const picture = { bytes: bytes.toString('base64'), contentType } as const
      return pipeline.analyzeImage(picture, { ...defaultRequest, ...look }, 'params.images[0]')
    },
  }
}

export function largestFace(view: ImageAnalysis): FaceResult {
  const [face] = view.faces
  assert.ok(face, 'a face is seen')
  return face
}

/** The box drawn from edge to edge, so that no edge may be off by more than `tolerancePx`. */
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

/** Greatest distance between points of the same name, px. */
export function landmarkDistancePx(a: FaceResult, b: FaceResult): number {
  const names = Object.keys(a.landmarks) as (keyof FaceResult['landmarks'])[]
  return Math.max(...names.map((name) => distance(a.landmarks[name], b.landmarks[name])))
}

function distance(a: Point, b: Point): number {
  return Math.hypot(a.x - b.x, a.y - b.y)
}
