import { once } from 'node:events'
import { globSync } from 'node:fs'
import { connect, type Socket } from 'node:net'
import path from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { parseArgs } from 'node:util'
import { readCpuMs, readRssBytes } from './support/process-usage.ts'
import { startService, type BenchService } from './support/service.ts'
import { markdownTable, showProgress } from './support/table.ts'

const webFolder = path.join(import.meta.dirname, '../web/dist')

/** The bytes of pipelined requests that a client sends at once. */
const packetBytes = 61 * 1024

/**
 * `npm run bench anonymous [--seconds 2] [--sockets 200]`: the cost of requests without a key. For
 * each public route: the CPU time of the service per request, with one client and with 16; the
 * memory that a connection holds that sends 61 KiB of requests and reads nothing; and the longest
 * wait of another client meanwhile.
 */
export async function run(args: readonly string[]): Promise<void> {
  const { values } = parseArgs({
    args: [...args],
    options: {
      seconds: { type: 'string', default: '2' },
      sockets: { type: 'string', default: '200' },
    },
  })
  const measureMs = Number(values.seconds) * 1000
  const rows: string[][] = []
  for (const [name, request] of Object.entries(requests())) {
    showProgress(name)
    // A new process for each route: the memory of the routes before it would be reused.
    await using service = await startService({ TRUST_PROXY: '1', VISION_WORKERS: '1' })
    await measureCpu(service, { request, clients: 1, measureMs }) // The code is compiled now.
    const alone = await measureCpu(service, { request, clients: 1, measureMs })
    const parallel = await measureCpu(service, { request, clients: 16, measureMs })
    const held = await measureHeld(service, request, Number(values.sockets))
    rows.push([name, ...[alone, parallel].map((ms) => ms.toFixed(2)), ...held])
    showProgress(rows.at(-1)?.join(' | ') ?? '')
  }
  console.log(markdownTable(head, rows))
}

const head = [
  'request',
  'CPU ms, 1 client',
  'CPU ms, 16 clients',
  'KiB per socket',
  'KiB per request',
  'longest wait of another client, ms',
]

/** Every request has another client address, so that no limit of an address hides its cost. */
type AnonymousRequest = (clientIp: string) => string

function requests(): Readonly<Record<string, AnonymousRequest>> {
  const get = (requestPath: string, headers = ''): AnonymousRequest => {
    return (ip) =>
      `GET ${requestPath} HTTP/1.1\r\nHost: b\r\nX-Forwarded-For: ${ip}\r\n${headers}\r\n`
  }
  const [script = 'none.js'] = globSync('assets/*.js', { cwd: webFolder }).toSorted()
  return {
    '/healthz': get('/healthz'),
    '/readyz': get('/readyz'),
    '/metrics': get('/metrics'),
    '/v1/openapi.json': get('/v1/openapi.json'),
    '/docs/': get('/docs/'),
    '/ (page of the console)': get('/'),
    'a script of the console': get(`/${script}`),
    'an unknown path': get('/none'),
    'an unknown path, 15 KiB of query': get(`/none?${'a=1&'.repeat(3800)}`),
    '/console/v1/session': get('/console/v1/session'),
    '/v1/subjects without a key': get('/v1/subjects'),
    'without Host': () => 'GET / HTTP/1.1\r\n\r\n',
  }
}

let addressCount = 0

function nextAddress(): string {
  addressCount++
  return `10.${(addressCount >> 16) & 255}.${(addressCount >> 8) & 255}.${addressCount & 255}`
}

type Load = {
  readonly request: AnonymousRequest
  readonly clients: number
  readonly measureMs: number
}

/** Returns the CPU time of the service per request, less the CPU time of the idle service. */
async function measureCpu(service: BenchService, load: Load): Promise<number> {
  const { request, clients, measureMs } = load
  const idleCpuMs = await cpuDuring(service, () => sleep(measureMs / 2))
  let requestCount = 0
  const cpuMs = await cpuDuring(service, async () => {
    const endMs = performance.now() + measureMs
    const runClient = async (): Promise<void> => {
      while (performance.now() < endMs) {
        const sentCount = await sendRequests(service.url, request, endMs)
        requestCount += sentCount
      }
    }
    await Promise.all(Array.from({ length: clients }, runClient))
  })
  return Math.max(0, cpuMs - idleCpuMs * 2) / requestCount
}

async function cpuDuring({ pid }: BenchService, work: () => Promise<unknown>): Promise<number> {
  const beforeMs = await readCpuMs(pid)
  await work()
  return (await readCpuMs(pid)) - beforeMs
}

async function openSocket(url: string): Promise<Socket> {
  const { hostname, port } = new URL(url)
  const socket = connect({ host: hostname, port: Number(port), noDelay: true })
  socket.on('error', () => {})
  await once(socket, 'connect')
  return socket
}

/** Sends one request after another until the time is over or the server closes the connection. */
async function sendRequests(
  url: string,
  request: AnonymousRequest,
  endMs: number,
): Promise<number> {
  const socket = await openSocket(url)
  const closed = once(socket, 'close')
  let count = 0
  for (let isOpen = true; isOpen && performance.now() < endMs; count++) {
    socket.write(request(nextAddress()))
    isOpen = await Promise.race([receiveResponse(socket), closed.then(() => false)])
  }
  socket.destroy()
  return count
}

function receiveResponse(socket: Socket): Promise<boolean> {
  let missingBytes = Infinity
  return new Promise((resolve) => {
    const read = (chunk: Buffer): void => {
      if (missingBytes === Infinity) {
        const headEnd = chunk.indexOf('\r\n\r\n')
        const length = /content-length: (\d+)/iu.exec(chunk.toString('latin1', 0, headEnd))?.[1]
        missingBytes = headEnd + 4 + Number(length)
      }
      missingBytes -= chunk.length
      if (missingBytes > 0) return
      socket.off('data', read)
      resolve(true)
    }
    socket.on('data', read)
  })
}

/** Opens connections that send a packet of requests and read nothing. */
async function measureHeld(
  service: BenchService,
  request: AnonymousRequest,
  socketCount: number,
): Promise<string[]> {
  await fetch(`${service.url}/healthz`) // The first request of a client loads its code.
  const rssBefore = await readRssBytes(service.pid)
  const count = Math.max(1, Math.floor(packetBytes / request(nextAddress()).length))
  const packet = Array.from({ length: count }, () => request(nextAddress())).join('')
  const sockets: Socket[] = []
  for (let index = 0; index < socketCount; index++) {
    const socket = await openSocket(service.url)
    sockets.push(socket.pause())
    socket.write(packet)
  }
  const { longestWaitMs, rssMax } = await observeOtherClient(service)
  for (const socket of sockets) socket.destroy()
  const heldKib = Math.max(0, rssMax - rssBefore) / 1024 / socketCount
  return [heldKib.toFixed(0), (heldKib / count).toFixed(1), longestWaitMs.toFixed(0)]
}

const observedMs = 4000

async function observeOtherClient(service: BenchService) {
  let longestWaitMs = 0
  let rssMax = 0
  const endMs = performance.now() + observedMs
  while (performance.now() < endMs) {
    const startMs = performance.now()
    const health = await fetch(`${service.url}/healthz`)
    await health.arrayBuffer()
    longestWaitMs = Math.max(longestWaitMs, performance.now() - startMs)
    rssMax = Math.max(rssMax, await readRssBytes(service.pid))
    await sleep(20)
  }
  return { longestWaitMs, rssMax }
}
