import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { readImage } from '../../src/evaluation/read-image.ts'
import { builtinPack } from '../../src/models/builtin/builtin-pack.ts'
import { goldenInput } from '../../src/models/builtin/golden.ts'
import type { BuiltinModel } from '../../src/models/builtin/builtin-model.ts'
import { builtinSet } from '../../src/models/model-set.ts'
import { prepareBuiltinPack } from '../../src/models/builtin/prepare-builtin-pack.ts'
import { createPipeline } from '../../src/vision/pipeline.ts'
import { openBuiltinModel } from '../../src/vision/session.ts'
import { groupImages, writeOneFaceImages } from '../support/sample-images.ts'
import { median, showProgress, markdownTable } from '../support/table.ts'

const limits = { bytesMax: 2 ** 23, pixelsMax: 4e7, sideMinPx: 32 }
const detectRequest = { minFaceConfidence: 0.6, minFaceSizePx: 40, maxFaces: 100, crops: false }
const rounds = 40

/**
 * `npm run bench stages [--templates] [--groups]`: the time of one analysis of a 1280×720 JPEG with one
 * face by stage, in this process on one thread, beside the bare time of its networks. Both alternate.
 * Templates run their two networks on the face and on its mirror image. With `--groups`, the images
 * are 1920 px wide JPEGs of three to five faces, for each of which some of the networks run.
 */
export async function run(args: readonly string[]): Promise<void> {
  const templates = args.includes('--templates')
  const isGroup = args.includes('--groups')
  const request = { ...detectRequest, templates }
  const folder = await mkdtemp(path.join(tmpdir(), 'facegate-bench-models-'))
  await prepareBuiltinPack({ folder })
  const { blazeface, face_landmark_68: landmarks, facemesh } = builtinPack.models
  const { face_recognition: dlib, faceres } = builtinPack.models
  const recognizers = templates ? [dlib, dlib, faceres, faceres] : []
  const entries = [blazeface, landmarks, facemesh, ...recognizers]
  const models = await Promise.all(entries.map((entry) => openTimer(folder, entry)))
  const pipeline = await createPipeline({ modelsFolder: folder, modelSet: builtinSet, limits })
  const files = isGroup ? groupImages : await writeOneFaceImages()
  const images = await Promise.all(files.map(readImage))

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
  const kind = isGroup ? 'three to five faces, 1920 px JPEG' : 'one face, 1280×720 JPEG'
  console.log(`\nOne analysis of ${kind}, one thread, median of ${rounds}`)
  console.log(markdownTable(['stage or network', 'ms'], rows))
  console.log(`\nProcessor time of one analysis: ${median(cpuMs).toFixed(1)} ms`)
  if (!isGroup) console.log(`It takes ${median(ratios).toFixed(2)} times the sum of its networks.`)
  await pipeline.close()
  await rm(folder, { recursive: true })
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
