import { readFile } from 'node:fs/promises'
import { parseArgs } from 'node:util'
import {
  executeAction,
  readRequestBody,
  startService,
  type BenchService,
} from '../support/service.ts'
import { groupImages, writeOneFaceImages } from '../support/sample-images.ts'
import { markdownTable, showProgress } from '../support/table.ts'

const workers = 2
const nearActions = ['svc.detect', 'svc.liveness', 'svc.attributes', 'svc.identify'] as const

/**
 * `npm run bench memory [--images 2000]`: the memory of an idle service with two workers, and after a
 * number of images: detection, liveness, attributes and templates of near faces, and detection of
 * groups. Linux only.
 */
export async function run(args: readonly string[]): Promise<void> {
  const { values } = parseArgs({
    args: [...args],
    options: { images: { type: 'string', default: '2000' } },
  })
  const images = Number(values.images)
  await using service = await startService({ VISION_WORKERS: String(workers) })
  console.log(`\nMemory of a service with ${workers} workers, MB`)
  const idle = await memoryRows(service, 'idle')
  await analyze(service, images)
  const rows = [...idle, ...(await memoryRows(service, `after ${images} images`))]
  console.log(markdownTable(['', 'process', 'resident', 'proportional', 'private'], rows))
}

async function analyze(service: BenchService, images: number): Promise<void> {
  const near = await writeOneFaceImages()
  const bodies = await Promise.all([
    ...nearActions.flatMap((action) => near.map((file) => readRequestBody(action, file))),
    ...groupImages.map((file) => readRequestBody('svc.detect', file)),
  ])
  let started = 0
  const client = async () => {
    while (started < images) {
      const index = started++
      if (index % 100 === 0) showProgress(`image ${index} of ${images}`)
      await executeAction(service, bodies[index % bodies.length] ?? '')
    }
  }
  await Promise.all(Array.from({ length: 2 * workers }, client))
}

/** One row for the server, one for each of its child processes, and their sum. */
async function memoryRows({ pid }: BenchService, when: string): Promise<string[][]> {
  const children = await readFile(`/proc/${pid}/task/${pid}/children`, 'utf8')
  const pids = [pid, ...children.trim().split(' ').map(Number)]
  const memories = await Promise.all(pids.map(readMemoryMb))
  const sum = memories.reduce((a, b) => a.map((mb, index) => mb + (b[index] ?? 0)))
  const names = ['server', ...pids.slice(1).map(() => 'worker'), 'all']
  return [...memories, sum].map((mb, index) => [
    when,
    names[index] ?? '',
    ...mb.map((value) => value.toFixed(0)),
  ])
}

/**
 * Returns the resident memory of a process; its proportional part, in which a page that n processes
 * share counts 1/n; and its private part. In MB (10⁶ bytes).
 */
async function readMemoryMb(pid: number): Promise<number[]> {
  const text = await readFile(`/proc/${pid}/smaps_rollup`, 'utf8')
  const mb = (name: string) =>
    (Number(new RegExp(`^${name}:\\s+(\\d+) kB`, 'mu').exec(text)?.[1] ?? 0) * 1024) / 1e6
  return [mb('Rss'), mb('Pss'), mb('Private_Clean') + mb('Private_Dirty')]
}
