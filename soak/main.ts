import { rm, writeFile } from 'node:fs/promises'
import { parseArgs } from 'node:util'
import { reportSoak } from './report.ts'
import { runSoak, type SoakResult } from './run-soak.ts'

/**
 * `npm run soak -- --hours H`: mixed load with bad input, kills and deletions. It prints the figures
 * and exits with 1 if one of them is over its limit. docs/security.md describes it.
 */
const { values } = parseArgs({
  options: {
    hours: { type: 'string', default: '0.2' },
    seed: { type: 'string', default: String(Date.now() % 1_000_000) },
    'images-per-s': { type: 'string', default: '1' },
    'calls-per-s': { type: 'string', default: '5' },
    'hostile-per-s': { type: 'string', default: '0.5' },
    samples: { type: 'string' },
  },
})

// The exit ends the service as well.
for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => process.exit(1))

const started = new Date().toISOString()
console.log(`Soak of ${values.hours} h, started ${started}, seed ${values.seed}`)
const result = await runSoak({
  hours: Number(values.hours),
  seed: Number(values.seed),
  imagesPerS: Number(values['images-per-s']),
  cheapPerS: Number(values['calls-per-s']),
  hostilePerS: Number(values['hostile-per-s']),
  onProgress: (text) => console.log(text),
})
if (values.samples !== undefined) await writeFile(values.samples, samplesJson(result))
const report = reportSoak(result)
console.log(`\n${report.text}\n\nStarted ${started}, ended ${new Date().toISOString()}`)
if (report.ok) await rm(result.dataDir, { recursive: true, force: true })
else console.log(`The data folder is kept: ${result.dataDir}`)
console.log(report.ok ? 'Within all limits.' : 'A limit was exceeded.')
process.exit(report.ok ? 0 : 1)

/** The raw samples, for other evaluations of the same run. */
function samplesJson({ sampler, latencies, record, counts, data }: SoakResult): string {
  return JSON.stringify({
    processes: [...sampler.series.values()],
    handles: sampler.handles,
    imageCalls: latencies.of('image call'),
    callsWithoutImage: latencies.of('call without image'),
    reference: latencies.of('reference'),
    answers: [...record.answers],
    violations: record.violations,
    counts,
    data,
  })
}
