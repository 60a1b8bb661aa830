import { once } from 'node:events'
import { mkdtemp, readFile, rm } from 'node:fs/promises'
import { connect, type Socket } from 'node:net'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { forkGate, type GateProcess } from '../test/support/gate/fork-gate.ts'
import { markdownTable, showProgress } from './support/table.ts'

const mebibyte = 1024 * 1024
/** The default of BODY_BYTES_MAX. */
const bodyBytes = 24 * mebibyte
const openCounts = [30, 300]
const settleMs = 3000

type Sender = 'valid key' | 'wrong key' | 'wrong key, one byte of the body'

/**
 * `node bench/main.ts bodies`: the memory and the CPU time of one server whose clients send bodies
 * of 24 MiB without their last byte, so that no request is complete.
 */
export async function run(): Promise<void> {
  const rows: string[][] = []
  for (const sender of ['valid key', 'wrong key', 'wrong key, one byte of the body'] as const)
    for (const openCount of openCounts) {
      showProgress(`${openCount} open bodies, ${sender}`)
      rows.push(await measureOpenBodies(openCount, sender))
    }
  console.log(
    markdownTable(
      ['open bodies', 'sent with', 'added memory', 'CPU time per request', 'responses'],
      rows,
    ),
  )
}

async function measureOpenBodies(openCount: number, sender: Sender): Promise<string[]> {
  const dataDir = await mkdtemp(path.join(tmpdir(), 'facegate-bench-bodies-'))
  try {
    const settings = { AUTH_FAILURES_PER_S: '10000', AUTH_FAILURES_BURST: '100000' }
    await using gate = await forkGate(dataDir, settings)
    await sendBodies(gate, 2, 'wrong key') // loads and compiles the code
    const before = await readUsage(gate)
    const sockets = await sendBodies(gate, openCount, sender)
    const after = await readUsage(gate)
    const peakBytes = Math.max(after.rssBytes, sockets.peakRssBytes)
    const addedBytes = peakBytes - before.rssBytes
    const cpuMs = (after.cpuMs - before.cpuMs) / openCount
    return [
      String(openCount),
      sender,
      `${(addedBytes / mebibyte).toFixed(1)} MiB (${Math.round(addedBytes / openCount / 1024)} KiB each)`,
      `${cpuMs.toFixed(2)} ms`,
      sockets.responses,
    ]
  } finally {
    await rm(dataDir, { recursive: true, force: true })
  }
}

/** Sends the bodies at the same time and waits until the server sends no more responses. */
async function sendBodies(gate: GateProcess, openCount: number, sender: Sender) {
  const body = Buffer.alloc(sender === 'wrong key, one byte of the body' ? 1 : bodyBytes - 1, ' ')
  const { hostname, port } = new URL(gate.url)
  const responses: string[] = []
  const sockets: Socket[] = []
  for (let opened = 0; opened < openCount; opened++) {
    const socket = connect(Number(port), hostname)
    sockets.push(socket)
    await once(socket, 'connect')
    socket.on('error', () => {})
    socket.once('data', (response) => responses.push(response.toString('latin1').slice(9, 12)))
    socket.write(
      [
        'POST /v1/face/execute HTTP/1.1',
        `Host: ${hostname}`,
        `X-Api-Key: ${sender === 'valid key' ? gate.key : 'fsk_live_wrong'}`,
        'Content-Type: application/json',
        `Content-Length: ${bodyBytes}\r\n\r\n`,
      ].join('\r\n'),
    )
    socket.write(body)
  }
  let peakRssBytes = 0
  let responseCount = -1
  for (let endMs = 0; responseCount < responses.length || performance.now() < endMs;) {
    if (responseCount < responses.length) endMs = performance.now() + settleMs
    responseCount = responses.length
    peakRssBytes = Math.max(peakRssBytes, (await readUsage(gate)).rssBytes)
    await sleep(50)
  }
  for (const socket of sockets) socket.destroy()
  return { peakRssBytes, responses: countResponses(responses, openCount) }
}

function countResponses(statuses: readonly string[], openCount: number): string {
  const counts = Map.groupBy(statuses, (status) => status)
  const answered = [...counts].map(([status, { length }]) => `${length} × ${status}`)
  const openLeft = openCount - statuses.length
  return [...answered, ...(openLeft > 0 ? [`${openLeft} open`] : [])].join(', ')
}

/** Reads the memory and the CPU time of the server process. */
async function readUsage({ process: { pid } }: GateProcess) {
  const status = await readFile(`/proc/${pid}/status`, 'utf8')
  const rssBytes = Number(/VmRSS:\s+(\d+)/u.exec(status)?.[1]) * 1024
  const fields = (await readFile(`/proc/${pid}/stat`, 'utf8')).split(') ')[1]?.split(' ') ?? []
  const msPerTick = 10
  return { rssBytes, cpuMs: (Number(fields[11]) + Number(fields[12])) * msPerTick }
}
