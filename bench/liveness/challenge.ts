import { mkdtemp, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import sharp from 'sharp'
import { openDrawing } from '../../eval/challenge/draw-person.ts'
import { drawView, viewKinds } from '../../eval/challenge/drawn-views.ts'
import { seededRandom } from '../../src/lib/random/seeded-random.ts'
import type { Calibration } from '../../src/gallery/calibration/similarity.ts'
import { similarityOf } from '../../test/support/vision/similarity-of.ts'
import { prepareBuiltinPack } from '../../src/models/builtin/prepare-builtin-pack.ts'
import { builtinSet } from '../../src/models/model-set.ts'
import { readRecognizerCalibration } from '../../src/start/active-models.ts'
import type { FaceResult } from '../../src/vision/image-analysis.ts'
import type { EncodedImage } from '../../src/vision/image/input/encoded-image.ts'
import { judgeFaces } from '../../src/vision/liveness/challenge/compare-frames.ts'
import { challengeFrameRequest } from '../../eval/challenge/sequences/frame-request.ts'
import { prepareOptimizedNetworks } from '../../src/vision/optimized/optimized-networks.ts'
import { createPipeline, type Pipeline } from '../../src/vision/pipeline.ts'
import { writeOneFaceImages } from '../support/sample-images.ts'
import { markdownTable, median, showProgress } from '../support/table.ts'

const limits = { bytesMax: 2 ** 23, pixelsMax: 4e7, sideMinPx: 32 }
const sizes = { minFaceConfidence: 0.6, minFaceSizePx: 40, maxFaces: 1 }
const rounds = 20
const steps = ['turnLeft', 'lookUp', 'turnRight'] as const
/** What the frames after the frontal one show. */
const shownSteps = ['turnLeft', 'turnLeft', 'lookUp', 'lookUp', 'turnRight'] as const

/**
 * `npm run bench challenge`: the time to analyze and judge a challenge of three steps with six frames
 * of 1280×720, beside six detections and one template of the same frames, in this process on one
 * thread. Both alternate. The frames are drawn: solid heads that turn by about 27°. Measured with the
 * networks of the default `VISION_INT8=auto`, and with float32. The processor time depends less on
 * other programs than the time.
 */
export async function run(): Promise<void> {
  const modelsFolder = await mkdtemp(path.join(tmpdir(), 'facegate-bench-models-'))
  await prepareBuiltinPack({ folder: modelsFolder })
  const people = await drawPeople(modelsFolder)
  const rows: string[][] = []
  for (const int8 of ['auto', 'off'] as const) {
    const copies = { modelsFolder, modelSet: builtinSet, int8 }
    const optimizedFolder = await prepareOptimizedNetworks(copies)
    const pipeline = await createPipeline({ ...copies, optimizedFolder, limits })
    rows.push([`VISION_INT8=${int8}`, ...(await compare(pipeline, people))])
    await pipeline.close()
  }
  console.log(`\nThree steps, six frames of 1280×720, one thread, median of ${rounds}`)
  const header = [
    'six detections and one template, ms',
    'challenge, ms',
    'ratio',
    'of processor time',
    'quick matches',
  ]
  console.log(markdownTable(['networks', ...header], rows))
  await rm(modelsFolder, { recursive: true })
}

/** @returns both times, their ratios, and the quick matches of each person, of five frames. */
async function compare(pipeline: Pipeline, people: EncodedImage[][]): Promise<string[]> {
  const calibration = await readRecognizerCalibration('builtin')
  const challenges: RoundCost[] = []
  const references: RoundCost[] = []
  const quickMatches: number[] = []
  for (let round = -people.length; round < rounds; round++) {
    showProgress(`round ${Math.max(0, round)} of ${rounds}`)
    const frames = people[(round + people.length) % people.length] ?? []
    const reference = await costOf(() => detectFrames(pipeline, frames))
    const challenge = await costOf(async () => {
      quickMatches.push(await answerChallenge(pipeline, frames, calibration))
    })
    if (round < 0) continue
    references.push(reference)
    challenges.push(challenge)
  }
  const medianOf = (costs: readonly RoundCost[], name: keyof RoundCost) =>
    median(costs.map((cost) => cost[name]))
  const ratioOf = (name: keyof RoundCost) =>
    median(challenges.map((cost, round) => cost[name] / (references[round]?.[name] ?? 0)))
  return [
    medianOf(references, 'ms').toFixed(0),
    medianOf(challenges, 'ms').toFixed(0),
    ratioOf('ms').toFixed(2),
    ratioOf('processorMs').toFixed(2),
    quickMatches.slice(-people.length).join(', '),
  ]
}

/** Returns the frames of each person of the sample images who looks straight into the camera. */
async function drawPeople(modelsFolder: string): Promise<EncodedImage[][]> {
  await using drawing = await openDrawing(modelsFolder)
  const head = viewKinds.find(({ name }) => name === 'head')
  if (!head) throw new Error('heads cannot be drawn')
  const people: EncodedImage[][] = []
  for (const file of await writeOneFaceImages()) {
    const picture = await drawing.readFrontal(await readFile(file), file)
    if (!picture) continue
    const source = { ...picture, behind: picture }
    const random = seededRandom(people.length)
    const frames: EncodedImage[] = []
    for (const step of [undefined, ...shownSteps])
      frames.push(await toCameraFrame(await drawView(head, source, { step, random })))
    people.push(frames)
  }
  if (people.length === 0) throw new Error('no sample image shows a frontal face')
  return people
}

/** Enlarges a square picture to the height of the frame and adds a plain background. */
async function toCameraFrame(picture: Buffer): Promise<EncodedImage> {
  const jpeg = await sharp(picture)
    .resize(720, 720)
    .extend({ left: 280, right: 280, background: '#707070' })
    .jpeg({ quality: 90 })
    .toBuffer()
  return { bytes: jpeg.toString('base64'), contentType: 'image/jpeg' }
}

type RoundCost = { readonly ms: number; readonly processorMs: number }

async function costOf(work: () => Promise<unknown>): Promise<RoundCost> {
  const startMs = performance.now()
  const before = process.cpuUsage()
  await work()
  const { user, system } = process.cpuUsage(before)
  return { ms: performance.now() - startMs, processorMs: (user + system) / 1000 }
}

async function detectFrames(pipeline: Pipeline, frames: readonly EncodedImage[]): Promise<void> {
  for (const [index, frame] of frames.entries())
    await pipeline.analyzeImage(frame, { ...sizes, crops: false, templates: index === 0 }, 'frame')
}

/** @returns the number of frames that the quick comparison accepted. */
async function answerChallenge(
  pipeline: Pipeline,
  frames: readonly EncodedImage[],
  calibration: Calibration,
): Promise<number> {
  const faces: FaceResult[] = []
  for (const frame of frames) {
    const request = { ...sizes, ...challengeFrameRequest(faces[0]) }
    const [face] = (await pipeline.analyzeImage(frame, request, 'frame')).faces
    if (!face) throw new Error('the frame has no face')
    faces.push(face)
  }
  judgeFaces(faces, steps, (a, b) => similarityOf(a, b, calibration))
  return faces.filter(({ certainSimilarity }) => certainSimilarity !== undefined).length
}
