import path from 'node:path'
import { parseArgs } from 'node:util'
import { readFamilyCpuMs, readThreadCpuMs } from '../support/process-usage.ts'
import { writeOneFaceImages } from '../support/sample-images.ts'
import {
  executeAction,
  readRequestBody,
  startService,
  type BenchService,
} from '../support/service.ts'
import { markdownTable, median, showProgress } from '../support/table.ts'

const clients = 4
const warmUpImages = 100

type Version = { readonly name: string; readonly service: BenchService; readonly costs: Cost[] }

/** Times of one image in ms: elapsed time, then CPU time by thread or process. */
type Cost = {
  readonly wall: number
  readonly main: number
  readonly helpers: number
  readonly workers: number
  readonly client: number
}

/**
 * `npm run bench images -- [--before DIR] [--action svc.detect] [--images 100] [--rounds 8]`: images of
 * one face per second over HTTP, four calls at a time, and the CPU time of each image: of the service's
 * main thread, its other threads, its workers and this client. `--action svc.identify` adds a template.
 * `--before` names a checkout of an earlier version: both versions alternate, and the same program
 * sends the calls. Settings such as `MODELS_DIR` apply to both. Linux only.
 */
export async function run(args: readonly string[]): Promise<void> {
  const { values } = parseArgs({
    args: [...args],
    options: {
      before: { type: 'string' },
      action: { type: 'string', default: 'svc.detect' },
      images: { type: 'string', default: '100' },
      rounds: { type: 'string', default: '8' },
    },
  })
  await using opened = new AsyncDisposableStack()
  const versions: Version[] = []
  if (values.before) {
    const service = opened.use(await startService({}, path.resolve(values.before)))
    versions.push({ name: 'before', service, costs: [] })
  }
  versions.push({ name: 'this version', service: opened.use(await startService()), costs: [] })
  const files = await writeOneFaceImages()
  const bodies = await Promise.all(files.map((file) => readRequestBody(values.action, file)))
  for (const { service } of versions) await sendImages(service, bodies, warmUpImages)
  for (let round = 1; round <= Number(values.rounds); round++)
    for (const { name, service, costs } of round % 2 === 0 ? versions.toReversed() : versions) {
      showProgress(`round ${round} of ${values.rounds}: ${name}`)
      costs.push(await measureImages(service, bodies, Number(values.images)))
    }
  const conditions = `one face, 1280×720 JPEG, ms of each image, medians of ${values.rounds} rounds`
  console.log(`\n${values.action}, ${conditions}\n`)
  console.log(markdownTable(head, versions.map(rowOf)))
}

const head = [
  'version',
  'images/s',
  'range',
  'wall',
  'CPU: main thread',
  'other threads',
  'workers',
  'client',
]

function rowOf({ name, costs }: Version): string[] {
  const columns = ['wall', 'main', 'helpers', 'workers', 'client'] as const
  const perS = costs.map(({ wall }) => 1000 / wall)
  return [
    name,
    median(perS).toFixed(1),
    `${Math.min(...perS).toFixed(1)}–${Math.max(...perS).toFixed(1)}`,
    ...columns.map((column) => median(costs.map((cost) => cost[column])).toFixed(2)),
  ]
}

async function measureImages(
  service: BenchService,
  bodies: readonly string[],
  count: number,
): Promise<Cost> {
  const before = await readTimes(service)
  await sendImages(service, bodies, count)
  const after = await readTimes(service)
  const perImage = (name: keyof Cost): number => (after[name] - before[name]) / count
  return {
    wall: perImage('wall'),
    main: perImage('main'),
    helpers: perImage('helpers'),
    workers: perImage('workers'),
    client: perImage('client'),
  }
}

async function readTimes({ pid }: BenchService): Promise<Cost> {
  const { user, system } = process.cpuUsage()
  const threads = await readThreadCpuMs(pid)
  const main = threads.get(pid) ?? 0
  const helpers = [...threads.values()].reduce((sum, cpuMs) => sum + cpuMs, -main)
  const workers = (await readFamilyCpuMs(pid)) - main - helpers
  return { wall: performance.now(), main, helpers, workers, client: (user + system) / 1000 }
}

async function sendImages(
  service: BenchService,
  bodies: readonly string[],
  count: number,
): Promise<void> {
  let next = 0
  const runClient = async (): Promise<void> => {
    while (next < count) await executeAction(service, bodies[next++ % bodies.length] ?? '')
  }
  await Promise.all(Array.from({ length: clients }, runClient))
}
