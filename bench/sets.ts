import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { parseArgs } from 'node:util'
import { readPicture } from '../eval/detection.ts'
import { chosenSet } from '../src/cli/models-option.ts'
import { systemClock } from '../src/lib/clock.ts'
import { createLog } from '../src/lib/log.ts'
import { builtinSet, type ModelSet } from '../src/models/pack.ts'
import { preparePack } from '../src/models/prepare.ts'
import type { Look, View } from '../src/vision/view.ts'
import { openPool } from '../src/vision/workers/pool.ts'
import { makeOneFacePictures } from './pictures.ts'
import { median, progress, table } from './table.ts'

const limits = { bytesMax: 2 ** 23, pixelsMax: 4e7, sideMinPx: 32 }
const looks: Readonly<Record<string, Look>> = {
  detect: { minFaceConfidence: 0.6, minFaceSizePx: 40, maxFaces: 100, crops: false },
  'detect and template': {
    minFaceConfidence: 0.6,
    minFaceSizePx: 40,
    maxFaces: 100,
    crops: false,
    templates: true,
  },
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
  const set = await chosenSet(values.models, folder)
  await using builtin = await openEyes('built-in', folder, builtinSet)
  await using installed = await openEyes('packs', folder, set)
  const pictures = await Promise.all((await makeOneFacePictures()).map(readPicture))
  for (const [name, look] of Object.entries(looks)) {
    const ms = new Map([builtin, installed].map((eyes) => [eyes, [] as number[]]))
    for (let round = -2; round < rounds; round++) {
      progress(`${name}: round ${Math.max(0, round)} of ${rounds}`)
      for (const [eyes, taken] of ms) {
        const startMs = performance.now()
        for (const picture of pictures) await eyes.look(picture, look)
        if (round >= 0) taken.push((performance.now() - startMs) / pictures.length)
      }
    }
    console.log(`\n${name}, one face, 1280×720 JPEG, one worker, ${rounds} rounds in turn`)
    console.log(speeds(ms))
  }
  await rm(folder, { recursive: true })
}

type Eyes = AsyncDisposable & {
  readonly name: string
  readonly look: (
    picture: Parameters<ReturnType<typeof openPool>['look']>[0],
    look: Look,
  ) => Promise<View>
}

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
function speeds(ms: ReadonlyMap<Eyes, readonly number[]>): string {
  const [first = []] = ms.values()
  const rows = [...ms].map(([{ name }, taken]) => [
    name,
    (1000 / median(taken)).toFixed(1),
    (1000 / Math.min(...taken)).toFixed(1),
    `${median(first.map((one, round) => one / (taken[round] ?? Number.NaN))).toFixed(2)}×`,
  ])
  return table(['models', 'images/s (median)', 'best round', 'faster by (median of rounds)'], rows)
}
