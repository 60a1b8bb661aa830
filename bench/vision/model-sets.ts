import { mkdtemp, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { parseArgs } from 'node:util'
import { readImage } from '../../src/evaluation/face-images.ts'
import { modelsFolder as installedFolder } from '../../src/cli/read-settings.ts'
import { selectModelSet } from '../../src/cli/models/models-option.ts'
import { readConfig } from '../../src/config.ts'
import { createLog } from '../../src/lib/log.ts'
import { builtinSet, combineWithBuiltin, type ModelSet } from '../../src/models/model-set.ts'
import { prepareBuiltinPack } from '../../src/models/builtin/prepare-builtin-pack.ts'
import type { AnalysisRequest, ImageAnalysis } from '../../src/vision/image-analysis.ts'
import type { EncodedImage } from '../../src/vision/image/input/encoded-image.ts'
import { startWorker } from '../../src/vision/workers/worker-process.ts'
import { fixedPoolLimits } from '../../src/vision/workers/vision-pool-limits.ts'
import { writeDistantFaceImages, writeOneFaceImages } from '../support/sample-images.ts'
import { median, showProgress, markdownTable } from '../support/table.ts'

const limits = { bytesMax: 2 ** 23, pixelsMax: 4e7, sideMinPx: 32 }
const detectRequest: AnalysisRequest = {
  minFaceConfidence: 0.6,
  minFaceSizePx: 40,
  maxFaces: 100,
  crops: false,
}
const analysisRequests: Readonly<Record<string, AnalysisRequest>> = {
  Detect: detectRequest,
  'Detect and template': { ...detectRequest, templates: true },
  'Detect, liveness and template': { ...detectRequest, liveness: true, templates: true },
}
const rounds = 15
/** Analyses of every image per round: enough for a CPU clock of 10 ms resolution. */
const passesPerRound = 3

/**
 * `npm run bench sets -- --models <pack> [--models <pack>]`: images per second of one worker process
 * on 1280×720 JPEGs with one near or distant face, with the built-in models and the packs, alternating.
 * If a pack has a recognizer, a third worker uses it together with the built-in one.
 */
export async function run(args: readonly string[]): Promise<void> {
  const { values } = parseArgs({
    args: [...args],
    options: { models: { type: 'string', multiple: true, default: [] } },
  })
  if (values.models.length === 0) throw new Error('no packs to compare: pass --models <pack>')
  const folder = await mkdtemp(path.join(tmpdir(), 'facegate-bench-models-'))
  await prepareBuiltinPack({ folder })
  const modelSet = await selectModelSet(values.models, installedFolder())
  await using builtin = await openModelSetWorker('built-in', folder, builtinSet)
  await using installed = await openModelSetWorker('packs', folder, modelSet)
  const { recognizer } = modelSet
  const both = recognizer === 'builtin' ? recognizer : combineWithBuiltin(recognizer)
  await using combined = await openModelSetWorker('packs, both recognizers', folder, {
    ...modelSet,
    recognizer: both,
  })
  const workers = [builtin, installed, ...(both === 'builtin' ? [] : [combined])]
  const kinds = { near: await writeOneFaceImages(), distant: await writeDistantFaceImages() }
  for (const [kind, files] of Object.entries(kinds)) {
    const images = await Promise.all(files.map(readImage))
    for (const [name, request] of Object.entries(analysisRequests)) {
      const measurements = workers.map((worker): ModelSetMeasurement => ({
        worker,
        rounds: [],
        analyses: [],
      }))
      for (let round = -2; round < rounds; round++) {
        showProgress(`${name}, a ${kind} face: round ${Math.max(0, round)} of ${rounds}`)
        for (const measurement of measurements) await measureRound(measurement, images, request)
        if (round < 0) for (const { rounds: warmUpRounds } of measurements) warmUpRounds.length = 0
      }
      const conditions = `1280×720 JPEG, one worker, ${rounds} alternating rounds`
      console.log(`\n${name}, a ${kind} face, ${conditions}\n`)
      console.log(speedTable(measurements))
    }
  }
  await rm(folder, { recursive: true })
}

/** A model set in a separate worker process. */
type ModelSetWorker = AsyncDisposable & {
  readonly name: string
  readonly analyzeImage: (image: EncodedImage, request: AnalysisRequest) => Promise<ImageAnalysis>
  /** CPU time of all worker threads so far; NaN if the system does not report it. */
  readonly cpuMs: () => Promise<number>
}

/** The time of a model set per image in each round, and its results. */
type ModelSetMeasurement = {
  readonly worker: ModelSetWorker
  readonly rounds: { readonly ms: number; readonly cpuMs: number }[]
  readonly analyses: ImageAnalysis[]
}

async function openModelSetWorker(
  name: string,
  modelsFolder: string,
  set: ModelSet,
): Promise<ModelSetWorker> {
  const { VISION_TIMEOUT_MS, VISION_WORKER_IMAGES_MAX } = readConfig({})
  const child = await startWorker({
    entryModule: new URL('../../src/vision/workers/worker.ts', import.meta.url),
    startOptions: { modelsFolder, modelSet: set, limits },
    signal: new AbortController().signal,
    log: createLog('warn'),
    limits: {
      ...fixedPoolLimits,
      jobMsMax: VISION_TIMEOUT_MS,
      workerJobsMax: VISION_WORKER_IMAGES_MAX,
    },
  })
  return {
    name,
    analyzeImage: (image, request) => child.run({ image, request, path: 'image' }),
    cpuMs: () => cpuMsOf(child.pid),
    [Symbol.asyncDispose]: () => child.kill(),
  }
}

/** Linux reports the CPU time of a process in units of 10 ms. Other systems do not report it here. */
async function cpuMsOf(pid: number): Promise<number> {
  const text = await readFile(`/proc/${pid}/stat`, 'utf8').catch(() => '')
  // The second field is the name in brackets, which can contain blanks. Fields 14 and 15 are times.
  const fields = text.slice(text.lastIndexOf(')') + 2).split(' ')
  return 10 * (Number(fields[11]) + Number(fields[12]))
}

async function measureRound(
  { worker, rounds: measuredRounds, analyses }: ModelSetMeasurement,
  images: readonly EncodedImage[],
  request: AnalysisRequest,
): Promise<void> {
  const [startMs, startCpuMs] = [performance.now(), await worker.cpuMs()]
  for (let pass = 0; pass < passesPerRound; pass++)
    for (const image of images) analyses.push(await worker.analyzeImage(image, request))
  const imageCount = passesPerRound * images.length
  measuredRounds.push({
    ms: (performance.now() - startMs) / imageCount,
    cpuMs: ((await worker.cpuMs()) - startCpuMs) / imageCount,
  })
}

/** Other work on the machine only adds time, so the best round is shown beside the median. */
function speedTable(measurements: readonly ModelSetMeasurement[]): string {
  const baseRounds = measurements[0]?.rounds ?? []
  const stages = Object.keys(
    measurements[0]?.analyses[0]?.timingsMs ?? {},
  ) as (keyof ImageAnalysis['timingsMs'])[]
  const rows = measurements.map(({ worker, rounds: measuredRounds, analyses }) => {
    const ms = measuredRounds.map((round) => round.ms)
    const cpuMs = measuredRounds.map((round) => round.cpuMs)
    const faster = baseRounds.map((round, index) => round.ms / (ms[index] ?? Number.NaN))
    const cheaper = mean(baseRounds.map((round) => round.cpuMs)) / mean(cpuMs)
    return [
      worker.name,
      (1000 / median(ms)).toFixed(1),
      (1000 / Math.min(...ms)).toFixed(1),
      `${median(faster).toFixed(2)}×`,
      mean(cpuMs).toFixed(1),
      `${cheaper.toFixed(2)}×`,
      ...stages.map((stage) =>
        median(analyses.map(({ timingsMs }) => timingsMs[stage])).toFixed(1),
      ),
    ]
  })
  const headings = ['models', 'images/s (median)', 'best round', 'faster by (median of rounds)']
  const cpu = ['CPU ms per image', 'cheaper by']
  return markdownTable([...headings, ...cpu, ...stages.map((stage) => `${stage}, ms`)], rows)
}

function mean(values: readonly number[]): number {
  return values.reduce((sum, value) => sum + value, 0) / values.length
}
