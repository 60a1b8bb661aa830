import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { readImage } from '../../src/evaluation/face-images.ts'
import { builtinPack } from '../../src/models/builtin/builtin-pack.ts'
import { goldenInput } from '../../src/models/builtin/golden.ts'
import type { BuiltinModel } from '../../src/models/builtin/builtin-model.ts'
import { builtinSet } from '../../src/models/model-set.ts'
import { prepareBuiltinPack } from '../../src/models/builtin/prepare-builtin-pack.ts'
import { createPipeline } from '../../src/vision/pipeline.ts'
import { openBuiltinModel } from '../../src/vision/session.ts'
import {
  groupImages,
  writeDistantFaceImages,
  writeOneFaceImages,
} from '../support/sample-images.ts'
import { median, showProgress, markdownTable } from '../support/table.ts'

const limits = { bytesMax: 2 ** 23, pixelsMax: 4e7, sideMinPx: 32 }
const detectRequest = { minFaceConfidence: 0.6, minFaceSizePx: 40, maxFaces: 100, crops: false }
const rounds = 40

/** The images, and whether each network runs once for each of them. */
const cases = {
  near: { what: 'one near face, 1280×720 JPEG', write: writeOneFaceImages, once: true },
  // Faces of 30 to 65 px, for which the large detector runs.
  small: {
    what: 'one small face, 1280×720 JPEG',
    write: () => writeDistantFaceImages(128),
    once: true,
  },
  groups: {
    what: 'three to five faces, 1920 px JPEG',
    write: () => Promise.resolve(groupImages),
    once: false,
  },
} as const

/**
 * `npm run bench stages [--templates] [--small | --groups]`: the time of one analysis of a 1280×720
 * JPEG with one face by stage, in this process on one thread, beside the bare time of its networks with
 * float32. Both alternate. Templates run their two networks on the face and on its mirror image. With
 * `--small`, the large detector runs. With `--groups`, the images are 1920 px wide JPEGs of three to
 * five faces, for each of which some of the networks run.
 */
export async function run(args: readonly string[]): Promise<void> {
  const templates = args.includes('--templates')
  const kind = caseOf(args)
  const { what, write, once } = cases[kind]
  const request = { ...detectRequest, templates }
  const folder = await mkdtemp(path.join(tmpdir(), 'facegate-bench-models-'))
  await prepareBuiltinPack({ folder })
  const { blazeface, face_landmark_68: landmarks, facemesh } = builtinPack.models
  const { face_recognition: dlib, faceres, ssd_mobilenetv1: ssd } = builtinPack.models
  const recognizers = templates ? [dlib, dlib, faceres, faceres] : []
  const large = kind === 'small' ? [ssd] : []
  const entries = [blazeface, landmarks, facemesh, ...large, ...recognizers]
  const models = await Promise.all(entries.map((entry) => openTimer(folder, entry)))
  const pipeline = await createPipeline({ modelsFolder: folder, modelSet: builtinSet, limits })
  const images = await Promise.all((await write()).map(readImage))

  const stages: Record<string, number[]> = {}
  const record = (name: string, ms: number): void => void (stages[name] ??= []).push(ms)
  const ratios: number[] = []
  const cpuMs: number[] = []
  for (let round = -4; round < rounds; round++) {
    showProgress(`analysis ${Math.max(0, round)} of ${rounds}`)
    const image = images[(round + 4) % images.length]
    if (!image) continue
    const modelMs = await measureTimes(models)
    const startUsage = process.cpuUsage()
    const startMs = performance.now()
    const { timingsMs } = await pipeline.analyzeImage(image, request, 'image')
    const totalMs = performance.now() - startMs
    const { user, system } = process.cpuUsage(startUsage)
    if (round < 0) continue
    cpuMs.push((user + system) / 1000)
    for (const [name, ms] of Object.entries({ ...modelMs, ...timingsMs, total: totalMs }))
      record(name, ms)
    ratios.push(totalMs / Object.values(modelMs).reduce((sum, ms) => sum + ms, 0))
  }
  const rows = Object.entries(stages).map(([name, ms]) => [name, median(ms).toFixed(2)])
  console.log(`\nOne analysis of ${what}, one thread, median of ${rounds}`)
  console.log(markdownTable(['stage or network', 'ms'], rows))
  console.log(`\nProcessor time of one analysis: ${median(cpuMs).toFixed(1)} ms`)
  if (once) console.log(`It takes ${median(ratios).toFixed(2)} times the sum of its networks.`)
  await pipeline.close()
  await rm(folder, { recursive: true })
}

function caseOf(args: readonly string[]): keyof typeof cases {
  if (args.includes('--groups')) return 'groups'
  return args.includes('--small') ? 'small' : 'near'
}

type NetworkTimer = { readonly name: string; readonly time: () => Promise<number> }

async function openTimer(folder: string, entry: BuiltinModel): Promise<NetworkTimer> {
  const session = await openBuiltinModel(folder, entry)
  const input = goldenInput(entry)
  return {
    name: `network ${entry.id}`,
    time: async () => {
      const startMs = performance.now()
      await session.run(input)
      return performance.now() - startMs
    },
  }
}

/** A network with two timers gets the sum. */
async function measureTimes(timers: readonly NetworkTimer[]): Promise<Record<string, number>> {
  const times: Record<string, number> = {}
  for (const { name, time } of timers) times[name] = (times[name] ?? 0) + (await time())
  return times
}
