import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import sharp from 'sharp'
import { prepareBuiltinPack } from '../../src/models/builtin/prepare-builtin-pack.ts'
import { builtinSet } from '../../src/models/model-set.ts'
import type { AnalysisRequest } from '../../src/vision/image-analysis.ts'
import type { EncodedImage } from '../../src/vision/image/input/encoded-image.ts'
import { judgeChallenge } from '../../src/vision/liveness/challenge/judge-challenge.ts'
import { createPipeline, type Pipeline } from '../../src/vision/pipeline.ts'
import { writeOneFaceImages } from '../support/sample-images.ts'
import { markdownTable, median, showProgress } from '../support/table.ts'

const limits = { bytesMax: 2 ** 23, pixelsMax: 4e7, sideMinPx: 32 }
const detectRequest = { minFaceConfidence: 0.6, minFaceSizePx: 40, maxFaces: 1, crops: false }
const rounds = 20
const framesPerChallenge = 6
const steps = ['turnLeft', 'lookUp', 'turnRight'] as const

/**
 * `npm run bench challenge`: the time to analyze and judge a challenge of three steps with six frames
 * of 1280×720, beside six detections and one template of the same frames, in this process on one
 * thread. Both alternate. The frames show one face that does not move, which takes the same time.
 */
export async function run(): Promise<void> {
  const folder = await mkdtemp(path.join(tmpdir(), 'facegate-bench-models-'))
  await prepareBuiltinPack({ folder })
  const pipeline = await createPipeline({ modelsFolder: folder, modelSet: builtinSet, limits })
  const challengeMs: number[] = []
  const referenceMs: number[] = []
  const people = await Promise.all((await writeOneFaceImages()).map(createFrames))
  for (let round = -people.length; round < rounds; round++) {
    showProgress(`round ${Math.max(0, round)} of ${rounds}`)
    const frames = people[(round + people.length) % people.length] ?? []
    const reference = await timeOf(() => detectFrames(pipeline, frames))
    const challenge = await timeOf(() => answerChallenge(pipeline, frames))
    if (round < 0) continue
    referenceMs.push(reference)
    challengeMs.push(challenge)
  }
  const ratios = challengeMs.map((ms, round) => ms / (referenceMs[round] ?? Number.NaN))
  console.log(`\nThree steps, six frames of 1280×720, one thread, median of ${rounds}`)
  console.log(
    markdownTable(
      ['', 'ms'],
      [
        ['six detections and one template', median(referenceMs).toFixed(0)],
        ['a challenge: analysis and judgement', median(challengeMs).toFixed(0)],
      ],
    ),
  )
  console.log(`\nThe challenge takes ${median(ratios).toFixed(2)} times as long.`)
  await pipeline.close()
  await rm(folder, { recursive: true })
}

/** Frames of a camera are different pictures, so each is compressed with another quality. */
function createFrames(file: string): Promise<EncodedImage[]> {
  return Promise.all(
    Array.from({ length: framesPerChallenge }, async (_, index) => {
      const jpeg = await sharp(file)
        .jpeg({ quality: 88 + index })
        .toBuffer()
      return { bytes: jpeg.toString('base64'), contentType: 'image/jpeg' as const }
    }),
  )
}

async function timeOf(work: () => Promise<unknown>): Promise<number> {
  const startMs = performance.now()
  await work()
  return performance.now() - startMs
}

async function detectFrames(pipeline: Pipeline, frames: readonly EncodedImage[]): Promise<void> {
  for (const [index, frame] of frames.entries())
    await pipeline.analyzeImage(frame, { ...detectRequest, templates: index === 0 }, 'frame')
}

async function answerChallenge(pipeline: Pipeline, frames: readonly EncodedImage[]): Promise<void> {
  const answered = []
  for (const [index, frame] of frames.entries()) {
    const templates = index === 0 ? true : ('fast' as const)
    const request: AnalysisRequest = { ...detectRequest, templates, challenge: true }
    const { faces } = await pipeline.analyzeImage(frame, request, 'frame')
    const facts = faces[0]?.challenge
    if (!facts) throw new Error('the frame has no face')
    answered.push({ facts, similarityToFirst: 1 })
  }
  judgeChallenge(answered, steps)
}
