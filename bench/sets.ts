import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { parseArgs } from 'node:util'
import { readPicture } from '../eval/detection.ts'
import { modelsFolder as installedFolder } from '../src/cli/models/folder.ts'
import { chosenSet } from '../src/cli/models-option.ts'
import { systemClock } from '../src/lib/clock.ts'
import { createLog } from '../src/lib/log.ts'
import { builtinSet, type ModelSet } from '../src/models/pack.ts'
import { preparePack } from '../src/models/prepare.ts'
import type { Look, Picture, View } from '../src/vision/view.ts'
import { openPool } from '../src/vision/workers/pool.ts'
import { makeOneFacePictures } from './pictures.ts'
import { median, progress, table } from './table.ts'

const limits = { bytesMax: 2 ** 23, pixelsMax: 4e7, sideMinPx: 32 }
const detect: Look = { minFaceConfidence: 0.6, minFaceSizePx: 40, maxFaces: 100, crops: false }
const looks: Readonly<Record<string, Look>> = {
  Detect: detect,
  'Detect and template': { ...detect, templates: true },
}
const rounds = 15

/**
 * `npm run bench sets -- --models <pack> [--models <pack>]`: images per second of one worker process
 * on one-face 1280×720 JPEGs, with the built-in models and with those of the packs, in turn.
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
  const pictures = await Promise.all((await makeOneFacePictures()).map(readPicture))
  for (const [name, look] of Object.entries(looks)) {
    const taken = [builtin, installed].map((eyes): Taken => ({ eyes, ms: [], views: [] }))
    for (let round = -2; round < rounds; round++) {
      progress(`${name}: round ${Math.max(0, round)} of ${rounds}`)
      for (const { eyes, ms, views } of taken) {
        const startMs = performance.now()
        const seen: View[] = []
        for (const picture of pictures) seen.push(await eyes.look(picture, look))
        if (round < 0) continue
        ms.push((performance.now() - startMs) / pictures.length)
        views.push(...seen)
      }
    }
    console.log(`\n${name}, one face, 1280×720 JPEG, one worker, ${rounds} rounds in turn\n`)
    console.log(speeds(taken))
  }
  await rm(folder, { recursive: true })
}

type Eyes = AsyncDisposable & {
  readonly name: string
  readonly look: (picture: Picture, look: Look) => Promise<View>
}

/** What a set of models took for a picture in each round, and what it saw. */
type Taken = { readonly eyes: Eyes; readonly ms: number[]; readonly views: View[] }

async function openEyes(name: string, modelsFolder: string, set: ModelSet): Promise<Eyes> {
  const log = createLog('warn')
  const pool = openPool({ workers: 1, modelsFolder, set, limits, clock: systemClock, log })
  await pool.ready()
  return {
    name,
    look: (picture, look) => pool.look(picture, look, { projectId: name, path: 'picture' }),
    [Symbol.asyncDispose]: () => pool.close(),
  }
}

/** Other work on the machine only ever adds time: the best round is told beside the median. */
function speeds(taken: readonly Taken[]): string {
  const first = taken[0]?.ms ?? []
  const stages = Object.keys(taken[0]?.views[0]?.timingsMs ?? {}) as (keyof View['timingsMs'])[]
  const rows = taken.map(({ eyes, ms, views }) => [
    eyes.name,
    (1000 / median(ms)).toFixed(1),
    (1000 / Math.min(...ms)).toFixed(1),
    `${median(first.map((one, round) => one / (ms[round] ?? Number.NaN))).toFixed(2)}×`,
    ...stages.map((stage) => median(views.map(({ timingsMs }) => timingsMs[stage])).toFixed(1)),
  ])
  const heads = ['models', 'images/s (median)', 'best round', 'faster by (median of rounds)']
  return table([...heads, ...stages.map((stage) => `${stage}, ms`)], rows)
}
