import {
  createCalibrations,
  type Calibrations,
} from '../../../src/gallery/calibration/calibrations.ts'
import type { Calibration } from '../../../src/gallery/calibration/similarity.ts'
import { openDensityKernel, type MeasureDensity } from '../../../src/lib/density/density-kernel.ts'
import { ActionError } from '../../../src/lib/errors.ts'
import type { FaceQuality } from '../../../src/vision/quality/face-quality.ts'
import type {
  AnalysisRequest,
  FaceMinimums,
  FaceResult,
  ImageAnalysis,
} from '../../../src/vision/image-analysis.ts'
import type { LivenessResult } from '../../../src/vision/liveness/liveness-result.ts'
import type { EncodedImage } from '../../../src/vision/image/input/encoded-image.ts'
import type { Template } from '../../../src/vision/embed/template.ts'
import { judgeFaces } from '../../../src/vision/liveness/challenge/compare-frames.ts'
import type { VisionClient } from '../../../src/vision/vision-client.ts'
import type { TestImage } from '../facegate/test-facegate.ts'
import { fakeChallengeFacts, type HeadTurn } from './fake-head.ts'
import { templatesOf } from '../vision/fake-templates.ts'
import { normalize, randomDirection } from '../vision/random-direction.ts'

/** A person in a fake image. */
export type FakePerson = {
  readonly name: string
  /** Distance of the image from the person's mean: 0.5 clearly matches, 3 barely matches. */
  readonly deviation?: number
  /** Number of the image, to distinguish images with the same deviation. */
  readonly take?: number
  readonly quality?: number
  /** Detection confidence; 0.99 by default. */
  readonly confidence?: number
  readonly side?: number
  readonly left?: number
  readonly yaw?: number
  /** Movement of the head against the frontal view, degrees, for a challenge. */
  readonly turn?: HeadTurn
  /** Result of the liveness check; by default a score of 0.99 with all evidence. */
  readonly liveness?: Partial<LivenessResult>
}

/** Returns an image of a person that clearly matches the person's other takes. */
export function takeOf(name: string, take: number): FakePerson {
  return { name, deviation: 0.3, take }
}

/** The model of most tests. */
const fakeModelId = 'people@1'

export type FakeModels = { readonly active: string; readonly former?: readonly string[] }

/** Vectors of different models have different lengths, so that mistakes become visible. */
const dimensionsOf = (modelId: string): number => (modelId === fakeModelId ? 256 : 128)

/** The model whose templates have a density. */
const cohortModelId = 'cohort@1'
const hasCohort = (modelId: string): boolean => modelId === cohortModelId

const cohortRows = 100
/** Measures densities for `cohort@1`, which few tests need. */
let measureFakeDensity: MeasureDensity | undefined

function openFakeCohort(): MeasureDensity {
  const values = Array.from({ length: cohortRows }, (_, row) =>
    randomDirection(`cohort row ${row}`, dimensionsOf(cohortModelId)),
  )
  const cohort = { cohort: Float32Array.from(values.flat()), neighbours: 15 }
  return openDensityKernel(cohort, dimensionsOf(cohortModelId))
}

/** Impostor pairs score about -2. */
const fakeCalibration: Calibration = {
  populations: 'generated',
  modelId: fakeModelId,
  set: 'random directions',
  measuredOn: '2026-01-01',
  people: 1000,
  pictures: 1000,
  impostorPairs: 499_500,
  genuinePairs: 0,
  method: 'chosen',
  points: [-1.8, -1.6, -1.4, -1.2, -1, -0.8].map((score, index) => ({
    fmr: 10 ** -(index + 1),
    score,
    source: 'counted' as const,
  })),
  lowestScore: -4,
  identicalScore: 0,
}

/** Returns the same calibration for each of these models. */
export function fakeCalibrations({ active, former = [] }: FakeModels): Calibrations {
  const [first, ...others] = [active, ...former].map((modelId) => {
    // The densities of this model are about -1.75.
    const shift = hasCohort(modelId) ? 1.75 : 0
    const points = fakeCalibration.points.map((point) => ({ ...point, score: point.score + shift }))
    const identicalScore = fakeCalibration.identicalScore + shift
    return { ...fakeCalibration, modelId, points, identicalScore }
  })
  return createCalibrations(first ?? fakeCalibration, others)
}

/** Returns an image that only the fake vision client can read: it lists the people in it. */
export function fakeImage(...people: readonly (FakePerson | string)[]): TestImage {
  const list = people.map((person) => (typeof person === 'string' ? { name: person } : person))
  return { bytes: Buffer.from(JSON.stringify(list)), contentType: 'image/jpeg' }
}

export type FakeVisionClient = VisionClient & {
  /** All requests so far, with their projects. */
  readonly requests: readonly (AnalysisRequest & { readonly projectId: string })[]
}

/**
 * Creates a vision client for fake images. Each person has a different direction in each model.
 *
 * @param onAnalyze awaited before each response.
 */
export function createFakeVisionClient(
  models: FakeModels = { active: fakeModelId },
  onAnalyze: () => Promise<unknown> = async () => {},
): FakeVisionClient {
  const requests: (AnalysisRequest & { readonly projectId: string })[] = []
  const client = unlimitedVisionClient(async (image, request, { projectId, path }) => {
    requests.push({ ...request, projectId })
    await onAnalyze()
    return imageAnalysisOf(parsePeople(image, path), request, models)
  })
  return { ...client, requests }
}

/** Returns a vision client that analyzes any number of images at once. */
export function unlimitedVisionClient(analyzeImage: VisionClient['analyzeImage']): VisionClient {
  const client: VisionClient = {
    analyzeImage,
    assertRoom: () => {},
    judgeChallenge: judgeFaces,
    reserve: () => ({ ...client, [Symbol.dispose]: () => {} }),
  }
  return client
}

function imageAnalysisOf(
  people: readonly FakePerson[],
  request: AnalysisRequest,
  models: FakeModels,
): ImageAnalysis {
  const all = people.map((person, index) => faceResultOf(person, index, request, models))
  const isSelected =
    (minimums: FaceMinimums) =>
    ({ boundingBox, confidence }: FaceResult): boolean =>
      boundingBox.width >= minimums.minFaceSizePx && confidence >= minimums.minFaceConfidence
  const largestFirst = (minimums: FaceMinimums): FaceResult[] =>
    all.filter(isSelected(minimums)).toSorted((a, b) => b.boundingBox.width - a.boundingBox.width)
  const faces = largestFirst(request)
  const counted = request.countMinimums && largestFirst(request.countMinimums)
  return {
    width: 1000,
    height: 1000,
    orientationApplied: false,
    faceCount: faces.length,
    faceSidesPx: faces.map(({ boundingBox }) => boundingBox.width),
    faces: faces.slice(0, request.maxFaces),
    ...(counted && {
      countedFaces: counted.length,
      countedFaceSidesPx: counted.map(({ boundingBox }) => boundingBox.width),
    }),
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
      ...(request.liveness && { liveness: 'people@1' }),
    },
  }
}

function parsePeople({ bytes }: EncodedImage, path: string): FakePerson[] {
  try {
    return JSON.parse(Buffer.from(bytes, 'base64').toString()) as FakePerson[]
  } catch {
    throw new ActionError('IMAGE_DECODE_FAILED', `${path}: cannot be decoded`)
  }
}

function faceResultOf(
  person: FakePerson,
  index: number,
  request: AnalysisRequest,
  models: FakeModels,
): FaceResult {
  const { quality = 90, confidence = 0.99, side = 200, left = 10 + index, yaw = 0 } = person
  const { active, former = [] } = models
  const point = { x: 50, y: 50 }
  const template = (modelId: string): Template => fakeTemplate(person, modelId)
  const previousModelIds = request.previousTemplates?.filter((modelId) => former.includes(modelId))
  return {
    boundingBox: { left, top: 10, width: side, height: side },
    confidence,
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
    ...(request.liveness && { liveness: fakeLiveness(person) }),
    ...(request.challenge && { challenge: fakeChallengeFacts(person) }),
    ...(request.templates && templatesOf(template(active), request)),
    ...(previousModelIds && { previousTemplates: previousModelIds.map(template) }),
    ...(request.contextCrops && { contextCrop: fakeImage(person).bytes.toString('base64') }),
  }
}

/** Returns the template that the fake vision client creates. */
export function fakeTemplate(person: FakePerson, modelId: string): Template {
  const vector = embeddingOf(person, modelId)
  const density = hasCohort(modelId) ? (measureFakeDensity ??= openFakeCohort())(vector) : 0
  return { modelId, vector, density }
}

/** Returns a perfect quality, except for the size of the face. */
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
  const evidence = { isBuiltin: false, hasContext: true, hasColour: true }
  const networks = { 'people@1': score }
  return { score, liveMin: 0.5, spoofMax: 0.4, networks, ...evidence, ...liveness }
}

/** Returns the embedding of a person's image, with unit length. */
export function embeddingOf(
  { name, deviation = 0, take = 0 }: FakePerson,
  modelId: string = fakeModelId,
): Float32Array {
  const prefix = modelId === fakeModelId ? '' : `${modelId} `
  const mean = randomDirection(`${prefix}person ${name}`, dimensionsOf(modelId))
  const difference = randomDirection(`${prefix}take ${take} of ${name}`, dimensionsOf(modelId))
  return normalize(mean.map((value, index) => value + deviation * (difference[index] ?? 0)))
}

/** Returns part of an embedding in all likely encodings: floats, doubles, rounded bytes, text. */
export function embeddingEncodings(name: string): Buffer[] {
  const vector = embeddingOf({ name })
  const part = vector.subarray(40, 56)
  const scale = 127 / Math.max(...vector.map(Math.abs))
  return [
    Buffer.from(new Float32Array(part).buffer),
    Buffer.from(Float64Array.from(part).buffer),
    Buffer.from(Int8Array.from(part, (value) => Math.round(value * scale)).buffer),
    Buffer.from(part.slice(0, 4).join(',')),
  ]
}
