import { createHash } from 'node:crypto'
import type { Services } from '../../../src/actions/action.ts'
import {
  createCalibrations,
  type Calibrations,
} from '../../../src/gallery/calibration/calibrations.ts'
import type { Calibration } from '../../../src/gallery/calibration/similarity.ts'
import { ActionError } from '../../../src/lib/errors.ts'
import type { FaceQuality } from '../../../src/vision/quality/face-quality.ts'
import type {
  LivenessResult,
  AnalysisRequest,
  EncodedImage,
  FaceMinimums,
  FaceResult,
  Template,
  ImageAnalysis,
} from '../../../src/vision/image-analysis.ts'
import type { TestImage } from '../facegate/test-facegate.ts'

/** Who stands in a picture of these tests, from left to right. */
export type FakePerson = {
  readonly name: string
  /** How far the picture is from the person's plain look: 0.5 is the same, 3 is barely so. */
  readonly deviation?: number
  /** Which of many pictures that are so far off. */
  readonly take?: number
  readonly quality?: number
  readonly side?: number
  readonly left?: number
  readonly yaw?: number
  /** What the liveness networks say; 0.99 with all evidence where nothing else is said. */
  readonly liveness?: Partial<LivenessResult>
}

/** The model that the eyes of most tests describe faces by. */
const fakeModelId = 'people@1'

/** The models that eyes describe faces by. */
export type FakeModels = { readonly active: string; readonly former?: readonly string[] }

/** Models differ in the length of their vectors, so that none can be taken for another's. */
const dimensionsOf = (modelId: string): number => (modelId === fakeModelId ? 256 : 128)

/** Strangers are at a score of about -2. */
const fakeCalibration: Calibration = {
  modelId: fakeModelId,
  set: 'random directions',
  measuredOn: '2026-01-01',
  people: 1000,
  pictures: 1000,
  impostorPairs: 499_500,
  genuinePairs: 0,
  method: 'chosen',
  points: [-1.8, -1.6, -1.4, -1.2, -1, -0.8].map((score, at) => ({
    fmr: 10 ** -(at + 1),
    score,
    source: 'counted' as const,
  })),
  lowestScore: -4,
  identicalScore: 0,
}

/** The tables of these models: strangers are as far apart in each. */
export function fakeCalibrations({ active, former = [] }: FakeModels): Calibrations {
  const [first, ...others] = [active, ...former].map((modelId) => ({
    ...fakeCalibration,
    modelId,
  }))
  return createCalibrations(first ?? fakeCalibration, others)
}

/** A picture that the eyes of these tests can read: it says who is in it. */
export function fakeImage(...people: readonly (FakePerson | string)[]): TestImage {
  const list = people.map((one) => (typeof one === 'string' ? { name: one } : one))
  return { bytes: Buffer.from(JSON.stringify(list)), contentType: 'image/jpeg' }
}

export type FakeVisionClient = Services['vision'] & {
  /** Every look so far: what was asked for, and on whose behalf. */
  readonly requests: readonly (AnalysisRequest & { readonly projectId: string })[]
}

/**
 * Eyes that read such pictures: to each model every person has a direction of their own.
 *
 * @param atLook what each look waits for.
 */
export function createFakeVisionClient(
  models: FakeModels = { active: fakeModelId },
  atLook: () => Promise<unknown> = async () => {},
): FakeVisionClient {
  const looks: (AnalysisRequest & { readonly projectId: string })[] = []
  return {
    requests: looks,
    analyzeImage: async (shown, look, { projectId }) => {
      looks.push({ ...look, projectId })
      await atLook()
      return imageAnalysisOf(shown, look, models)
    },
  }
}

function imageAnalysisOf(
  { bytes }: EncodedImage,
  look: AnalysisRequest,
  models: FakeModels,
): ImageAnalysis {
  const people = parsePeople(bytes)
  const all = people.map((person, at) => faceResultOf(person, at, look, models))
  const isLarge =
    (minimums: FaceMinimums) =>
    ({ boundingBox }: FaceResult): boolean =>
      boundingBox.width >= minimums.minFaceSizePx
  const faces = all
    .filter(isLarge(look))
    .toSorted((a, b) => b.boundingBox.width - a.boundingBox.width)
  return {
    width: 1000,
    height: 1000,
    orientationApplied: false,
    faceCount: faces.length,
    faces: faces.slice(0, look.maxFaces),
    ...(look.countMinimums && { countedFaces: all.filter(isLarge(look.countMinimums)).length }),
    timingsMs: {
      decode: 1,
      detect: 1,
      landmarks: 1,
      align: 1,
      embed: 1,
      liveness: 0,
      attributes: 0,
      picture: 0,
    },
    providers: {
      detector: 'people@1',
      recognizer: models.active,
      ...(look.liveness && { liveness: 'people@1' }),
    },
  }
}

function parsePeople(bytes: string): FakePerson[] {
  try {
    return JSON.parse(Buffer.from(bytes, 'base64').toString()) as FakePerson[]
  } catch {
    throw new ActionError('IMAGE_DECODE_FAILED', 'params.images[0]: cannot be decoded')
  }
}

function faceResultOf(
  person: FakePerson,
  at: number,
  look: AnalysisRequest,
  models: FakeModels,
): FaceResult {
  const { quality = 90, side = 200, left = 10 + at, yaw = 0 } = person
  const { active, former = [] } = models
  const point = { x: 50, y: 50 }
  const template = (modelId: string): Template => ({
    modelId,
    vector: embeddingOf(person, modelId),
    density: 0,
  })
  const asked = look.previousTemplates?.filter((modelId) => former.includes(modelId))
  return {
    boundingBox: { left, top: 10, width: side, height: side },
    confidence: 0.99,
    landmarks: {
      leftEye: point,
      rightEye: point,
      noseTip: point,
      leftMouth: point,
      rightMouth: point,
    },
    pose: { yaw, pitch: 0, roll: 0 },
    qualityScore: quality,
    quality: faceQualityOf(side),
    ...(look.liveness && { liveness: fakeLiveness(person) }),
    ...(look.templates && { template: template(active) }),
    ...(asked && { previousTemplates: asked.map(template) }),
    ...(look.contextCrops && { contextCrop: fakeImage(person).bytes.toString('base64') }),
  }
}

/** Faultless, but for how small it is. */
export function faceQualityOf(side: number): FaceQuality {
  return {
    components: {
      sharpness: 100,
      brightness: 100,
      contrast: 100,
      exposure: 100,
      faceSize: Math.round(Math.max(0, Math.min(100, (side - 20) / 1.2))),
      headPose: 100,
      eyesOpen: 100,
      mouthClosed: 100,
      occlusion: 100,
    },
    luma: 128,
    openness: { leftEye: 1, rightEye: 1, mouth: 0 },
    occlusion: { leftEye: 0, rightEye: 0, lowerFace: 0 },
    cutShare: 0,
  }
}

function fakeLiveness({ liveness = {} }: FakePerson): LivenessResult {
  const { score = 0.99 } = liveness
  const evidence = { hasContext: true, hasColour: true }
  const networks = { 'people@1': score }
  return { score, liveMin: 0.5, spoofMax: 0.4, networks, ...evidence, ...liveness }
}

/** The template of a person's picture, unit length. */
export function embeddingOf(
  { name, deviation = 0, take = 0 }: FakePerson,
  modelId: string = fakeModelId,
): Float32Array {
  const by = modelId === fakeModelId ? '' : `${modelId} `
  const own = randomDirection(`${by}person ${name}`, dimensionsOf(modelId))
  const off = randomDirection(`${by}take ${take} of ${name}`, dimensionsOf(modelId))
  return normalize(own.map((value, at) => value + deviation * (off[at] ?? 0)))
}

/** The forms in which a template could lie about: its floats, doubles, rounded bytes, or as text. */
export function embeddingEncodings(name: string): Buffer[] {
  const vector = embeddingOf({ name })
  const some = vector.subarray(40, 56)
  const scale = 127 / Math.max(...vector.map(Math.abs))
  return [
    Buffer.from(new Float32Array(some).buffer),
    Buffer.from(Float64Array.from(some).buffer),
    Buffer.from(Int8Array.from(some, (value) => Math.round(value * scale)).buffer),
    Buffer.from(some.slice(0, 4).join(',')),
  ]
}

function randomDirection(seed: string, dimensions: number): number[] {
  const values: number[] = []
  for (let block = 0; values.length < dimensions; block++) {
    const bytes = createHash('sha512').update(`${seed} ${block}`).digest()
    for (let at = 0; at < bytes.length; at += 4) values.push(bytes.readInt32LE(at))
  }
  return [...normalize(values)]
}

function normalize(values: readonly number[]): Float32Array {
  const length = Math.hypot(...values)
  return Float32Array.from(values, (value) => value / length)
}
