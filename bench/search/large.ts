import { availableParallelism } from 'node:os'
import { latencyCells, markdownTable, showProgress } from '../support/table.ts'
import { createStream, dimensions, type TemplateMatrix } from './random-templates.ts'
import { openFacegate, openPeerThread, type FacegateSystem } from './search-systems.ts'

const probeCount = 100
/** usearch reads ten bytes where the scan reads one, and takes seconds per search. */
const peerProbeCount = 20

/**
 * Measures a gallery that fills most of the memory: the service, and after it the exact search of
 * usearch over the same faces. Recall is the share of searches in which both found the same face.
 */
export async function measureLarge(size: number): Promise<void> {
  const stream = createStream(size, probeCount)
  const rows: string[][] = []
  const found: number[] = []
  let probes: TemplateMatrix
  {
    const report = (text: string) => showProgress(`facegate: ${text}`)
    await using facegate = await openFacegate(availableParallelism(), stream.source, report)
    probes = stream.probes()
    const indexes = Array.from({ length: probeCount }, (_, index) => index)
    await facegate.search([0], probes)
    const run = await facegate.search(indexes, probes)
    found.push(...run.rows)
    rows.push([facegate.name, ...latencyCells(run.timesMs), '', facegate.delayP99Ms().toFixed(1)])
    console.log(await describeSystem(facegate, probes))
  }
  const peer = 'usearch exact f32'
  const report = (text: string) => showProgress(`${peer}: ${text}`)
  await using system = await openPeerThread({ streamed: size, probes, peer }, report)
  if (system) {
    const indexes = Array.from({ length: peerProbeCount }, (_, index) => index)
    const run = await system.search(indexes, probes)
    const same = run.rows.filter((row, index) => row === found[index]).length
    const share = (same / run.rows.length).toFixed(3)
    rows.push([peer, ...latencyCells(run.timesMs), share, system.delayP99Ms().toFixed(1)])
  }
  console.log(`\n${size} templates × ${dimensions} dimensions, ${availableParallelism()} cores`)
  console.log(
    markdownTable(['', 'p50 ms', 'p99 ms', 'same as facegate', 'loop delay p99 ms'], rows),
  )
}

/** Describes the load of a system, its memory, and the stall of the event loop by changes. */
export async function describeSystem(
  system: FacegateSystem,
  probes: TemplateMatrix,
): Promise<string> {
  const { wallMs, cpuMs } = await system.change(probes)
  return [
    `${system.name}: ${system.bytesPerTemplate.toFixed(0)} bytes per template`,
    `created and loaded in ${system.loadSeconds.toFixed(1)} s`,
    `longest stall by 1,000 additions and 1,000 removals ${wallMs.toFixed(1)} ms`,
    `(${cpuMs.toFixed(1)} ms of CPU)`,
  ].join(', ')
}
