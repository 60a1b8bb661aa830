import { execFile, fork } from 'node:child_process'
import { once } from 'node:events'
import { parseArgs, promisify } from 'node:util'
import { createMetrics } from '../src/http/metrics.ts'
import type { ServerWatch } from '../src/http/observed.ts'
import { newId } from '../src/lib/ids.ts'
import { createLog } from '../src/lib/log.ts'
import { openTelemetry } from '../src/telemetry/telemetry.ts'
import { startGate } from '../test/gate.ts'
import { openClient } from './http-client.ts'
import { median, progress, table } from './table.ts'

const rounds = 7

type Watched = { readonly name: string; readonly watch: ServerWatch }
type Cost = { readonly cpuMs: number; readonly p50Ms: number }

/**
 * What looking on costs: calls of an action that does nothing, over HTTP, with nobody who looks on,
 * with metrics, and with traces that a collector in another process receives. The ways take turns;
 * the figures are medians of the rounds. The processor's time is that of the server's thread, in
 * which the client runs as well, the same for all.
 */
export async function run(args: readonly string[]): Promise<void> {
  const { values } = parseArgs({
    args: [...args],
    options: { calls: { type: 'string', default: '1000' } },
  })
  const collector = fork(new URL('collector.ts', import.meta.url))
  const [url] = (await once(collector, 'message')) as [string]
  const families = async () => []
  const log = createLog('silent')
  const options = { serviceName: '', version: 'bench', metricsUrl: '', metricsMs: 60_000 }
  const sampled = (samplerRatio: number) =>
    openTelemetry({
      ...options,
      tracesUrl: `${url}/v1/traces`,
      sampler: 'traceidratio',
      samplerRatio,
      families,
      log,
    })
  const { onStep, onServed } = createMetrics([])
  const [tenth, whole] = [await sampled(0.1), await sampled(1)]
  const metrics = { onStep, onServed }
  const ways: readonly Watched[] = [
    { name: 'nobody looks on', watch: {} },
    { name: 'metrics, as always', watch: metrics },
    { name: 'and one trace of ten', watch: { ...metrics, trace: tenth?.trace } },
    { name: 'and every trace', watch: { ...metrics, trace: whole?.trace } },
  ]
  const costs = new Map<string, Cost[]>(ways.map(({ name }) => [name, []]))
  for (let round = 0; round <= rounds; round++)
    for (const way of ways) {
      progress(`round ${round} of ${rounds}: ${way.name}`)
      const cost = await costOf(way, Number(values.calls))
      // The first one warms up.
      if (round > 0) costs.get(way.name)?.push(cost)
    }
  await Promise.all([tenth?.close(), whole?.close()])
  collector.kill()
  console.log(table(['', 'p50 ms', 'CPU ms a call', 'more CPU µs'], rowsOf(costs)))
  console.log(`\nReading the SDK: ${await readingMs()} ms, once, where a collector is named.`)
}

async function costOf({ watch }: Watched, calls: number): Promise<Cost> {
  await using gate = await startGate({ watch })
  using client = await openClient(gate.url, gate.key)
  const took: number[] = []
  const before = process.threadCpuUsage()
  for (let call = 0; call < calls; call++) {
    const startMs = performance.now()
    const body = { action: 'svc.echo', requestId: newId(), params: { say: 'bench' } }
    const answer = await client.post(JSON.stringify(body))
    if (!answer.startsWith('{"ok":true')) throw new Error(answer)
    took.push(performance.now() - startMs)
  }
  const { user, system } = process.threadCpuUsage(before)
  return { cpuMs: (user + system) / 1000 / calls, p50Ms: median(took) }
}

function rowsOf(costs: ReadonlyMap<string, readonly Cost[]>): string[][] {
  let baseMs: number | undefined
  return [...costs].map(([name, own]) => {
    const cpuMs = median(own.map((cost) => cost.cpuMs))
    const p50Ms = median(own.map((cost) => cost.p50Ms))
    baseMs ??= cpuMs
    return [name, p50Ms.toFixed(3), cpuMs.toFixed(3), ((cpuMs - baseMs) * 1000).toFixed(0)]
  })
}

/** In processes of their own: a module is read once. */
async function readingMs(): Promise<string> {
  const otlp = new URL('../src/telemetry/otlp.ts', import.meta.url).href
  const source = `const from = performance.now(); await import('${otlp}'); console.log(performance.now() - from)`
  const took: number[] = []
  for (let n = 0; n < 5; n++) {
    const { stdout } = await promisify(execFile)(process.execPath, [
      '--input-type=module',
      '-e',
      source,
    ])
    took.push(Number(stdout))
  }
  return median(took).toFixed(0)
}
