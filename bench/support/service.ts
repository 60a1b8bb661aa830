import { spawn, type ChildProcess } from 'node:child_process'
import { mkdtemp, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { openClient, type BenchClient } from './http-client.ts'
import { readCpuMs, readRssBytes } from './process-usage.ts'

/** A service process as `npm start` runs it, on a free port and a new data folder. */
export type BenchService = AsyncDisposable & {
  readonly url: string
  readonly key: string
  readonly dataDir: string
  /** The process id of the service process, without its vision workers. */
  readonly pid: number
  /** Returns the resident memory of the service process, without its workers. */
  readonly rssBytes: () => Promise<number>
  /** Returns the processor time of the service process so far, without its workers. */
  readonly cpuMs: () => Promise<number>
}

/** A benchmark measures the machine, not the rate limit of a project. */
const rateLimitSettings = { RATE_SUSTAINED_PER_S: '10000', RATE_BURST: '100000' }

/** @param root the checkout whose service starts. */
export async function startService(
  environment: Readonly<Record<string, string>> = {},
  root = path.join(import.meta.dirname, '../..'),
): Promise<BenchService> {
  const dataDir = await mkdtemp(path.join(tmpdir(), 'facegate-bench-data-'))
  const child = spawn(process.execPath, [path.join(root, 'src/main.ts')], {
    env: {
      ...process.env,
      ...rateLimitSettings,
      PORT: '0',
      DATA_DIR: dataDir,
      LOG_LEVEL: 'warn',
      ...environment,
    },
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  const { url, key } = await readStartupOutput(child)
  return {
    url,
    key,
    dataDir,
    pid: child.pid ?? 0,
    rssBytes: () => readRssBytes(child.pid ?? 0),
    cpuMs: () => readCpuMs(child.pid ?? 0),
    [Symbol.asyncDispose]: async () => {
      const exited = new Promise((resolve) => child.once('exit', resolve))
      child.kill('SIGTERM')
      await exited
      await rm(dataDir, { recursive: true, force: true })
    },
  }
}

/** Reads the address and the key from the output of the first start. */
async function readStartupOutput(child: ChildProcess): Promise<{ url: string; key: string }> {
  let output = ''
  for await (const chunk of child.stdout ?? []) {
    output += String(chunk)
    const url = /Facegate is (?:running )?at (\S+)/u.exec(output)?.[1]
    const key = /fsk_live_\S+/u.exec(output)?.[0]
    if (url && key && output.includes('Documentation')) return { url, key }
  }
  throw new Error(`the service did not start: ${output}`)
}

/** Returns the body of a call with one image file. */
export async function readRequestBody(action: string, file: string): Promise<string> {
  const bytes = (await readFile(file)).toString('base64')
  const contentType = file.endsWith('.png') ? 'image/png' : 'image/jpeg'
  return JSON.stringify({ action, params: { images: [{ kind: 'image', contentType, bytes }] } })
}

/** The connections of a service without a request in flight. */
const idleClients = new WeakMap<BenchService, BenchClient[]>()

/**
 * Sends a call. It uses no complete HTTP client, because the service would miss the CPU time of one on
 * the same cores.
 *
 * @throws Error if the response is not an envelope with `ok: true`.
 */
export async function executeAction(service: BenchService, body: string): Promise<unknown> {
  const idle = idleClients.get(service) ?? []
  idleClients.set(service, idle)
  const client = idle.pop() ?? (await openClient(service.url, service.key))
  const response = await client.post(body)
  idle.push(client)
  const envelope = JSON.parse(response) as {
    ok?: boolean
    data?: { results: [{ value: unknown }] }
  }
  if (!envelope.ok || !envelope.data) throw new Error(response)
  return envelope.data.results[0].value
}
