import { fork } from 'node:child_process'
import { existsSync } from 'node:fs'
import { readFile } from 'node:fs/promises'
import { availableParallelism } from 'node:os'
import path from 'node:path'
import { parseArgs } from 'node:util'
import { writeOneFaceImages, groupImages } from '../support/sample-images.ts'
import {
  readRequestBody,
  executeAction,
  startService,
  type BenchService,
} from '../support/service.ts'
import { median, showProgress, markdownTable } from '../support/table.ts'

/** A system that detects faces in files: Facegate over HTTP, or a peer in a separate process. */
type DetectionSystem = AsyncDisposable & {
  readonly name: string
  /** Processes all files at least once, and repeatedly for at least this time. */
  readonly detect: (files: readonly string[], forMs: number) => Promise<DetectionRun>
}

type DetectionRun = {
  readonly images: number
  readonly elapsedMs: number
  /** File → number of faces found. */
  readonly counts: Readonly<Record<string, number>>
}

const rounds = 5
const roundMs = 3000
const peersFolder = path.join(import.meta.dirname, '../peers')

/**
 * `npm run bench detect [--labels <folder>]`: images per second of svc.detect over HTTP and of the
 * peers that npm can install, alternating in one run. With a labelled folder it also counts the faces
 * that each system finds.
 */
export async function run(args: readonly string[]): Promise<void> {
  const { values } = parseArgs({ args: [...args], options: { labels: { type: 'string' } } })
  if (!existsSync(path.join(peersFolder, 'node_modules')))
    throw new Error('the peers are not installed: npm ci --prefix bench/peers')
  await using service = await startService()
  await using facegate = openFacegate(service)
  await using human = await openPeer('human')
  await using faceApi = await openPeer('face-api')
  const systems = [facegate, human, faceApi]

  const near = await measureSpeeds(systems, await writeOneFaceImages())
  console.log(
    `\nOne face, 1280×720 JPEG, ${availableParallelism()} cores, ${rounds} rounds in turn`,
  )
  console.log(speedTable(systems, near))
  const groups = await measureSpeeds(systems, groupImages)
  console.log('\nThree to five faces, 1920 px JPEG')
  console.log(speedTable(systems, groups))
  if (values.labels) console.log(await recallTable(systems, values.labels))
}

/** Returns the images per second of each system, one value per round. */
async function measureSpeeds(
  systems: readonly DetectionSystem[],
  files: readonly string[],
): Promise<Map<string, number[]>> {
  const speeds = new Map(systems.map(({ name }) => [name, [] as number[]]))
  for (const { detect } of systems) await detect(files, 0)
  for (let round = 1; round <= rounds; round++)
    for (const { name, detect } of systems) {
      showProgress(`round ${round} of ${rounds}: ${name}`)
      const { images, elapsedMs } = await detect(files, roundMs)
      speeds.get(name)?.push((images / elapsedMs) * 1000)
    }
  return speeds
}

function speedTable(systems: readonly DetectionSystem[], speeds: ReadonlyMap<string, number[]>) {
  const ours = speeds.get('facegate') ?? []
  const rows = systems.map(({ name }) => {
    const theirs = speeds.get(name) ?? []
    const ratios = ours.map((speed, round) => speed / (theirs[round] ?? Number.NaN))
    const range = [Math.min(...theirs), Math.max(...theirs)].map((speed) => speed.toFixed(1))
    return [name, median(theirs).toFixed(1), range.join('–'), `${median(ratios).toFixed(2)}×`]
  })
  return markdownTable(['', 'images/s (median)', 'range', 'facegate is faster by'], rows)
}

/** Compares the number of detected faces with the labels. Extra faces are counted separately. */
async function recallTable(systems: readonly DetectionSystem[], folder: string): Promise<string> {
  const lines = (await readFile(path.join(folder, 'labels.csv'), 'utf8')).trim().split(/\r?\n/u)
  const labels = lines.slice(1).map((line) => {
    const [file = '', count = '0'] = line.split(',')
    return { file: path.join(folder, file), count: Number(count) }
  })
  const total = labels.reduce((sum, { count }) => sum + count, 0)
  const rows: string[][] = []
  for (const { name, detect } of systems) {
    showProgress(`counting faces: ${name}`)
    const { counts } = await detect(
      labels.map(({ file }) => file),
      0,
    )
    const found = labels.reduce(
      (sum, { file, count }) => sum + Math.min(count, counts[file] ?? 0),
      0,
    )
    const extra = labels.reduce(
      (sum, { file, count }) => sum + Math.max(0, (counts[file] ?? 0) - count),
      0,
    )
    rows.push([name, `${found} of ${total}`, String(extra)])
  }
  const head = `\nFaces found in a labelled folder of ${labels.length} images\n`
  return head + markdownTable(['', 'found', 'more than labelled'], rows)
}

/** Keeps two calls per worker in flight, so that no worker is ever idle. */
function openFacegate(service: BenchService): DetectionSystem {
  const inFlight = availableParallelism() * 2
  return {
    name: 'facegate',
    detect: async (files, forMs) => {
      const bodies = await Promise.all(files.map((file) => readRequestBody('svc.detect', file)))
      const counts: Record<string, number> = {}
      let started = 0
      let images = 0
      const startMs = performance.now()
      const client = async (): Promise<void> => {
        while (started < files.length || performance.now() - startMs < forMs) {
          const index = started++ % files.length
          const value = (await executeAction(service, bodies[index] ?? '')) as { faceCount: number }
          counts[files[index] ?? ''] = value.faceCount
          images++
        }
      }
      await Promise.all(Array.from({ length: inFlight }, client))
      return { images, elapsedMs: performance.now() - startMs, counts }
    },
    [Symbol.asyncDispose]: async () => {},
  }
}

async function openPeer(name: string): Promise<DetectionSystem> {
  const child = fork(path.join(peersFolder, `${name}.js`), {
    stdio: ['ignore', 'ignore', 'inherit', 'ipc'],
  })
  const nextMessage = () => new Promise<unknown>((resolve) => child.once('message', resolve))
  await nextMessage()
  return {
    name: `${name} (tfjs-wasm)`,
    detect: async (files, forMs) => {
      const result = nextMessage()
      child.send({ files, forMs })
      return (await result) as DetectionRun
    },
    [Symbol.asyncDispose]: async () => child.disconnect(),
  }
}
