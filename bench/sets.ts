import { mkdtemp, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { parseArgs } from 'node:util'
import { readPicture } from '../eval/detection.ts'
import { modelsFolder as installedFolder } from '../src/cli/models/folder.ts'
import { chosenSet } from '../src/cli/models-option.ts'
import { createLog } from '../src/lib/log.ts'
import { builtinSet, type ModelSet } from '../src/models/pack.ts'
import { preparePack } from '../src/models/prepare.ts'
import type { Look, Picture, View } from '../src/vision/view.ts'
import { startChild } from '../src/vision/workers/child.ts'
import { poolLimits } from '../src/vision/workers/pool-limits.ts'
import { makeDistantFacePictures, makeOneFacePictures } from './pictures.ts'
import { median, progress, table } from './table.ts'

const limits = { bytesMax: 2 ** 23, pixelsMax: 4e7, sideMinPx: 32 }
const detect: Look = { minFaceConfidence: 0.6, minFaceSizePx: 40, maxFaces: 100, crops: false }
const looks: Readonly<Record<string, Look>> = {
  Detect: detect,
  'Detect and template': { ...detect, templates: true },
  'Detect, liveness and template': { ...detect, liveness: true, templates: true },
}
const rounds = 15
/** Looks at every picture in one turn: enough for CPU time in hundredths of a second to be told. */
const passes = 3

/**
 * `npm run bench sets -- --models <pack> [--models <pack>]`: images per second of one worker process
 * on 1280×720 JPEGs of one face, near and distant, with the built-in models and with those of the packs, in turn.
 */
export async function run(args: readonly string[]): Promise<void> {
  const { values } = parseArgs({
    args: [...args],
    options: { models: { type: 'string', multiple: true, default: [] } },
  })
  if (values.models.length === 0) throw new Error('name the packs to compare: --models <pack>')
  const folder = await mkdtemp(path.join(tmpdir(), 'facegate-bench-models-'))
  await preparePack({ folder })
  const set = await chosenSet(values.models, installedFolder())
  await using builtin = await openEyes('built-in', folder, builtinSet)
  await using installed = await openEyes('packs', folder, set)
  const kinds = { near: await makeOneFacePictures(), distant: await makeDistantFacePictures() }
  for (const [kind, files] of Object.entries(kinds)) {
    const pictures = await Promise.all(files.map(readPicture))
    for (const [name, look] of Object.entries(looks)) {
      const taken = [builtin, installed].map((eyes): Taken => ({ eyes, rounds: [], views: [] }))
      for (let round = -2; round < rounds; round++) {
        progress(`${name}, a ${kind} face: round ${Math.max(0, round)} of ${rounds}`)
        for (const one of taken) await takeTurn(one, pictures, look)
        if (round < 0) for (const { rounds: warm } of taken) warm.length = 0
      }
      const where = `1280×720 JPEG, one worker, ${rounds} rounds in turn`
      console.log(`\n${name}, a ${kind} face, ${where}\n`)
      console.log(speeds(taken))
    }
  }
  await rm(folder, { recursive: true })
}

/** A set of models in a worker process of its own. */
type Eyes = AsyncDisposable & {
  readonly name: string
  readonly look: (picture: Picture, look: Look) => Promise<View>
  /** Of the worker so far, in all its threads; NaN where the system does not tell. */
  readonly cpuMs: () => Promise<number>
}

/** What a set of models took for a picture in each round, and what it saw. */
type Taken = {
  readonly eyes: Eyes
  readonly rounds: { readonly ms: number; readonly cpuMs: number }[]
  readonly views: View[]
}

async function openEyes(name: string, modelsFolder: string, set: ModelSet): Promise<Eyes> {
  const child = await startChild({
    entry: new URL('../src/vision/workers/worker.ts', import.meta.url),
    start: { modelsFolder, set, limits },
    signal: new AbortController().signal,
    log: createLog('warn'),
    limits: poolLimits,
  })
  return {
    name,
    look: (picture, look) => child.run({ picture, look, path: 'picture' }),
    cpuMs: () => cpuMsOf(child.pid),
    [Symbol.asyncDispose]: () => child.end(),
  }
}

/** Linux counts the time of a process in hundredths of a second; elsewhere it is not told. */
async function cpuMsOf(pid: number): Promise<number> {
  const text = await readFile(`/proc/${pid}/stat`, 'utf8').catch(() => '')
  // The second field is the name in brackets, which may hold blanks; times are 14 and 15.
  const fields = text.slice(text.lastIndexOf(')') + 2).split(' ')
  return 10 * (Number(fields[11]) + Number(fields[12]))
}

async function takeTurn(
  { eyes, rounds: took, views }: Taken,
  pictures: readonly Picture[],
  look: Look,
): Promise<void> {
  const [startMs, startCpuMs] = [performance.now(), await eyes.cpuMs()]
  for (let pass = 0; pass < passes; pass++)
    for (const picture of pictures) views.push(await eyes.look(picture, look))
  const looked = passes * pictures.length
  took.push({
    ms: (performance.now() - startMs) / looked,
    cpuMs: ((await eyes.cpuMs()) - startCpuMs) / looked,
  })
}

/** Other work on the machine only ever adds time: the best round is told beside the median. */
function speeds(taken: readonly Taken[]): string {
  const first = taken[0]?.rounds ?? []
  const stages = Object.keys(taken[0]?.views[0]?.timingsMs ?? {}) as (keyof View['timingsMs'])[]
  const rows = taken.map(({ eyes, rounds: took, views }) => {
    const ms = took.map((one) => one.ms)
    const cpuMs = took.map((one) => one.cpuMs)
    const faster = first.map((one, round) => one.ms / (ms[round] ?? Number.NaN))
    const cheaper = mean(first.map((one) => one.cpuMs)) / mean(cpuMs)
    return [
      eyes.name,
      (1000 / median(ms)).toFixed(1),
      (1000 / Math.min(...ms)).toFixed(1),
      `${median(faster).toFixed(2)}×`,
      mean(cpuMs).toFixed(1),
      `${cheaper.toFixed(2)}×`,
      ...stages.map((stage) => median(views.map(({ timingsMs }) => timingsMs[stage])).toFixed(1)),
    ]
  })
  const heads = ['models', 'images/s (median)', 'best round', 'faster by (median of rounds)']
  const cpu = ['CPU, ms an image', 'cheaper by']
  return table([...heads, ...cpu, ...stages.map((stage) => `${stage}, ms`)], rows)
}

function mean(values: readonly number[]): number {
  return values.reduce((sum, value) => sum + value, 0) / values.length
}
