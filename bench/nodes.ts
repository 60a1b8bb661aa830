import { mkdtemp, rm } from 'node:fs/promises'
import { availableParallelism, cpus, loadavg, tmpdir } from 'node:os'
import path from 'node:path'
import { parseArgs } from 'node:util'
import { startPostgresCluster } from '../test/support/database/postgres-server.ts'
import { clientCount } from './nodes/cluster-bench.ts'
import { gatedCallsTable } from './nodes/gated-calls-table.ts'
import { identifyTable } from './nodes/identify-table.ts'

/**
 * `npm run bench nodes -- [--seconds 5] [--rounds 3] [--templates 100000]`: one, two and three server
 * processes on one PostgreSQL, next to one on SQLite, in one run: gated calls a second, and
 * identifications in a gallery of the given size; 0 templates skip them. Servers, database
 * and clients share the machine.
 */
export async function run(args: readonly string[]): Promise<void> {
  const { values } = parseArgs({
    args: [...args],
    options: {
      seconds: { type: 'string', default: '5' },
      rounds: { type: 'string', default: '3' },
      templates: { type: 'string', default: '100000' },
    },
  })
  const folder = await mkdtemp(path.join(tmpdir(), 'facegate-bench-nodes-'))
  try {
    await using cluster = await startPostgresCluster()
    const [measureMs, rounds] = [Number(values.seconds) * 1000, Number(values.rounds)]
    const bench = { cluster, folder, measureMs, rounds }
    const machine = `${availableParallelism()} cores (${cpus()[0]?.model ?? 'unknown'})`
    console.log(`\n${machine}, load ${loadavg()[0]?.toFixed(1)} at the start; fsync on`)
    console.log(`\nGated calls, ${clientCount} clients, ${values.seconds} s a round\n`)
    console.log(await gatedCallsTable(bench))
    const templates = Number(values.templates)
    if (templates === 0) return
    console.log(`\nsvc.identify among ${templates} templates × 256\n`)
    console.log(await identifyTable(bench, templates))
  } finally {
    await rm(folder, { recursive: true, force: true })
  }
}
