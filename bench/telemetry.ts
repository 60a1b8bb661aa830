import { execFile, fork } from 'node:child_process'
import { once } from 'node:events'
import { setImmediate as nextTurn } from 'node:timers/promises'
import { parseArgs, promisify } from 'node:util'
import { createMetrics, type RequestObserver } from '../src/http/metrics/metrics.ts'
import { newId } from '../src/lib/ids.ts'
import { createLog } from '../src/lib/log.ts'
import { traceCall, withSpan } from '../src/lib/observability/call-trace.ts'
import { openTelemetry } from '../src/telemetry/telemetry.ts'
import { startGate } from '../test/support/gate/test-gate.ts'
import { openClient, type BenchClient } from './support/http-client.ts'
import { median, showProgress, markdownTable } from './support/table.ts'

const callsPerBatch = 200
const warmUpCalls = 2000
const emptyCallCount = 20_000

type TelemetryMode = { readonly name: string; readonly observer: RequestObserver }
type CallCost = { readonly cpuUs: number; readonly p50Ms: number }

/**
 * `npm run bench telemetry`: the cost of observability. Calls of an empty action over HTTP without an
 * observer, with metrics, and with traces that a collector in another process receives. All modes share
 * one server and one database and alternate in blocks of 200 calls. Each block is compared with the
 * block without an observer of the same round, so that other load affects all modes equally. The CPU
 * time is that of the server thread, which also runs the client.
 */
export async function run(args: readonly string[]): Promise<void> {
  const { values } = parseArgs({
    args: [...args],
    options: { rounds: { type: 'string', default: '40' } },
  })
  const collector = fork(new URL('./collector.ts', import.meta.url))
  const [url] = (await once(collector, 'message')) as [string]
  const [sampledTraces, allTraces] = [await openTraces(url, 0.1), await openTraces(url, 1)]
  const { onStep, onRequestCompleted } = createMetrics([])
  const metrics = { onSpanEnd: onStep, onRequestCompleted }
  const modes: readonly TelemetryMode[] = [
    { name: 'no observer', observer: {} },
    { name: 'metrics (default)', observer: metrics },
    {
      name: 'metrics and one trace of ten',
      observer: { ...metrics, startTrace: sampledTraces?.startTrace },
    },
    {
      name: 'metrics and every trace',
      observer: { ...metrics, startTrace: allTraces?.startTrace },
    },
  ]
  const emptySpanRows = await measureEmptySpans(modes)
  const costs = await measureModes(modes, Number(values.rounds))
  await Promise.all([sampledTraces?.close(), allTraces?.close()])
  collector.kill()
  console.log(markdownTable(['', 'p50 ms', 'CPU µs', 'more CPU µs', 'middle half'], rowsOf(costs)))
  console.log(`\n${markdownTable(['eight empty steps of a call', 'CPU µs'], emptySpanRows)}`)
  console.log(
    `\nLoading the SDK takes ${await measureSdkImportMs()} ms, once, if a collector is configured.`,
  )
}

function openTraces(url: string, samplerRatio: number) {
  return openTelemetry({
    serviceName: '',
    version: 'bench',
    tracesUrl: `${url}/v1/traces`,
    metricsUrl: '',
    metricsIntervalMs: 60_000,
    sampler: 'traceidratio',
    samplerRatio,
    readMetricFamilies: async () => [],
    log: createLog('silent'),
  })
}

/** Returns the costs of each mode, one per round. */
async function measureModes(
  modes: readonly TelemetryMode[],
  rounds: number,
): Promise<Map<string, CallCost[]>> {
  const costs = new Map<string, CallCost[]>(modes.map(({ name }) => [name, []]))
  let current: RequestObserver = {}
  const observer: RequestObserver = {
    onSpanEnd: (...args) => current.onSpanEnd?.(...args),
    onRequestCompleted: (...args) => current.onRequestCompleted?.(...args),
    get startTrace() {
      return current.startTrace
    },
  }
  await using gate = await startGate({
    observer,
    environment: { STARTER_CREDIT_MICROS: '1000000000000' },
  })
  using client = await openClient(gate.url, gate.key)
  for (let round = 0; round <= rounds; round++) {
    showProgress(`round ${round} of ${rounds}`)
    // The order alternates, so that spans that are sent late fall into blocks that create spans.
    for (const mode of round % 2 === 0 ? modes : modes.toReversed()) {
      current = mode.observer
      const cost = await measureBatch(client)
      // The first round warms up.
      if (round > 0) costs.get(mode.name)?.push(cost)
    }
  }
  return costs
}

/**
 * The same without HTTP and database: a call of eight empty steps. The CPU clock is too coarse for a
 * few of them, so the mean is returned.
 */
async function measureEmptySpans(modes: readonly TelemetryMode[]): Promise<string[][]> {
  const rows: string[][] = []
  // Sequential, the most expensive mode last, so that no mode sends the spans of another.
  for (const { name, observer } of modes) {
    await runEmptyCalls(observer, warmUpCalls)
    const before = process.threadCpuUsage()
    await runEmptyCalls(observer, emptyCallCount)
    const { user, system } = process.threadCpuUsage(before)
    rows.push([name, ((user + system) / emptyCallCount).toFixed(1)])
  }
  return rows
}

async function runEmptyCalls(observer: RequestObserver, calls: number): Promise<void> {
  for (let call = 0; call < calls; call++) {
    await traceCall(
      { attributes: { requestId: newId(), method: 'POST', route: '/' }, observer },
      runEightSpans,
    )
    // Pauses let the spans be sent, as in real calls that wait.
    if (call % 20 === 0) await nextTurn()
  }
}

async function runEightSpans(): Promise<void> {
  for (let step = 0; step < 8; step++) await withSpan('database.read', async () => {})
}

async function measureBatch(client: BenchClient): Promise<CallCost> {
  const timesMs: number[] = []
  const before = process.threadCpuUsage()
  for (let call = 0; call < callsPerBatch; call++) {
    const startMs = performance.now()
    const body = { action: 'svc.echo', requestId: newId(), params: { text: 'bench' } }
    const response = await client.post(JSON.stringify(body))
    if (!response.startsWith('{"ok":true')) throw new Error(response)
    timesMs.push(performance.now() - startMs)
  }
  const { user, system } = process.threadCpuUsage(before)
  return { cpuUs: (user + system) / callsPerBatch, p50Ms: median(timesMs) }
}

function rowsOf(costs: ReadonlyMap<string, readonly CallCost[]>): string[][] {
  const [base = []] = costs.values()
  return [...costs].map(([name, own]) => {
    const more = own.map(({ cpuUs }, round) => cpuUs - (base[round]?.cpuUs ?? Number.NaN))
    const sorted = more.toSorted((a, b) => a - b)
    const at = (share: number) => sorted[Math.floor(sorted.length * share)]?.toFixed(0)
    const p50Ms = median(own.map((cost) => cost.p50Ms)).toFixed(2)
    const cpuUs = median(own.map((cost) => cost.cpuUs)).toFixed(0)
    return [name, p50Ms, cpuUs, median(more).toFixed(0), `${at(0.25)} to ${at(0.75)}`]
  })
}

/** Uses separate processes, because a process loads a module once. */
async function measureSdkImportMs(): Promise<string> {
  const otlp = new URL('../src/telemetry/otlp.ts', import.meta.url).href
  const source = `const from = performance.now(); await import('${otlp}'); console.log(performance.now() - from)`
  const timesMs: number[] = []
  for (let n = 0; n < 5; n++) {
    const { stdout } = await promisify(execFile)(process.execPath, [
      '--input-type=module',
      '-e',
      source,
    ])
    timesMs.push(Number(stdout))
  }
  return median(timesMs).toFixed(0)
}
