import { mkdtemp, readdir, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { fileURLToPath, pathToFileURL } from 'node:url'
import { parseArgs } from 'node:util'
import { writeOneFaceImages } from './support/sample-images.ts'
import {
  executeAction,
  readRequestBody,
  startService,
  type BenchService,
} from './support/service.ts'

/** A file that runs in each of these calls is part of the call, and not of a timer beside it. */
const rounds = 8
/** Calls before the first measured one, so that every process has started and nothing is prepared. */
const callsBefore = 4

/**
 * `npm run bench walk -- [--root DIR] [--list]`: the source files in which a function runs for one
 * `svc.identify` with an enrolled subject, from the socket to the response, in all processes and
 * threads of the service. `--root` names another checkout, `--list` prints the files.
 */
export async function run(args: readonly string[]): Promise<void> {
  const { values } = parseArgs({
    args: [...args],
    options: { root: { type: 'string' }, list: { type: 'boolean', default: false } },
  })
  const root = path.resolve(values.root ?? path.join(import.meta.dirname, '..'))
  const entered = await recordIdentify(root)
  const files = [...entered].sort()
  const lines = await Promise.all(files.map((file) => countLines(path.join(root, file))))
  if (values.list) console.log(files.join('\n'))
  const total = lines.reduce((sum, count) => sum + count, 0)
  console.log(`svc.identify enters ${files.length} files with ${total} lines`)
}

async function recordIdentify(root: string): Promise<ReadonlySet<string>> {
  const folder = await mkdtemp(path.join(tmpdir(), 'facegate-bench-walk-'))
  const recorder = new URL('walk/record-functions.ts', import.meta.url).href
  const settings = { VISION_WORKERS: '1', WALK_DIR: folder, NODE_OPTIONS: `--import=${recorder}` }
  try {
    await using service = await startService(settings, root)
    const [image = ''] = await writeOneFaceImages()
    await executeAction(service, await readRequestBody('svc.enroll', image))
    const identify = await readRequestBody('svc.identify', image)
    for (let call = 0; call < callsBefore; call++) await executeAction(service, identify)
    let entered: ReadonlySet<string> | undefined
    for (let round = 0; round < rounds; round++) {
      await readRecords(service, folder)
      await executeAction(service, identify)
      const files = relativeTo(root, await readRecords(service, folder))
      entered = entered ? entered.intersection(files) : files
    }
    return entered ?? new Set()
  } finally {
    await rm(folder, { recursive: true, force: true })
  }
}

/** Requests a record of each process, and returns the URLs of all of them. */
async function readRecords({ pid }: BenchService, folder: string): Promise<readonly string[]> {
  const processIds = [pid, ...(await childrenOf(pid))]
  for (const id of processIds) process.kill(id, 'SIGUSR2')
  const isMissing = (names: readonly string[]) =>
    processIds.some((id) => !names.some((name) => name.startsWith(`${id}-0-`)))
  let names: readonly string[] = []
  do {
    await pause(50)
    names = (await readdir(folder)).filter((name) => name.endsWith('.json'))
  } while (isMissing(names))
  await pause(100) // threads answer after the main thread
  names = (await readdir(folder)).filter((name) => name.endsWith('.json'))
  const urls: string[] = []
  for (const name of names) {
    const file = path.join(folder, name)
    urls.push(...(JSON.parse(await readFile(file, 'utf8')) as string[]))
    await rm(file)
  }
  return urls
}

async function childrenOf(pid: number): Promise<readonly number[]> {
  const children = await readFile(`/proc/${pid}/task/${pid}/children`, 'utf8')
  return children.trim().split(' ').filter(Boolean).map(Number)
}

/** Returns the paths of files of `src`, from the root of the checkout. */
function relativeTo(root: string, urls: readonly string[]): ReadonlySet<string> {
  const source = pathToFileURL(path.join(root, 'src/')).href
  const files = urls.filter((url) => url.startsWith(source))
  return new Set(files.map((url) => path.relative(root, fileURLToPath(url))))
}

async function countLines(file: string): Promise<number> {
  return (await readFile(file, 'utf8')).split('\n').length - 1
}
