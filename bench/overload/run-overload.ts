import { readFile } from 'node:fs/promises'
import { loadavg } from 'node:os'
import { parseArgs } from 'node:util'
import sharp from 'sharp'
import { runPhase, type PhaseResult } from './phase.ts'
import { findViolations, factors, medianPhase } from './limits.ts'
import { openClient } from '../support/http-client.ts'
import { measure } from '../support/load.ts'
import { writeOneFaceImages } from '../support/sample-images.ts'
import { startService, type BenchService } from '../support/service.ts'
import { markdownTable, showProgress } from '../support/table.ts'

const settleMs = 500

/**
 * `npm run overload [-- --seconds 10 --rounds 3 --workers 1]`: in every round, measures the
 * capacity for svc.detect and then sends calls at 1, 2, 3 and 10 times that rate. The medians of the
 * rounds are compared with the limits. Exits with 1 if a limit is exceeded.
 */
export async function run(args: readonly string[]): Promise<void> {
  const { values } = parseArgs({
    args: [...args],
    options: {
      seconds: { type: 'string', default: '10' },
      rounds: { type: 'string', default: '3' },
      workers: { type: 'string', default: '1' },
    },
  })
  const durationMs = Number(values.seconds) * 1000
  await using service = await startService({
    VISION_WORKERS: values.workers,
    STARTER_CREDIT_MICROS: '1000000000000',
  })
  const body = await createBody()
  const rounds: PhaseResult[][] = []
  for (let round = 1; round <= Number(values.rounds); round++) {
    showProgress(`round ${round}: capacity`)
    // Measured in every round, because other work on the machine changes it.
    const capacityPerS = await measureCapacity(service, body, Number(values.workers))
    const phases: PhaseResult[] = []
    for (const factor of factors) {
      showProgress(`round ${round}: ${factor} × ${capacityPerS.toFixed(1)} calls/s`)
      phases.push(await runPhase(service, { body, capacityPerS, factor, durationMs }))
      await new Promise((resolve) => setTimeout(resolve, settleMs))
    }
    rounds.push(phases)
  }
  report(rounds)
}

/** A call with one near face: the case in which the service answers most calls per second. */
async function createBody(): Promise<Buffer> {
  const [file = ''] = await writeOneFaceImages()
  const bytes = await sharp(await readFile(file))
    .resize(640)
    .jpeg()
    .toBuffer()
  const image = { kind: 'image', contentType: 'image/jpeg', bytes: bytes.toString('base64') }
  return Buffer.from(JSON.stringify({ action: 'svc.detect', params: { images: [image] } }))
}

/** Returns the calls per second with enough clients to keep every worker busy. */
async function measureCapacity(
  { url, key }: BenchService,
  body: Buffer,
  workerCount: number,
): Promise<number> {
  const { perS } = await measure(workerCount + 2, 5000, async () => {
    const client = await openClient(url, key)
    const text = body.toString()
    const once = async (): Promise<void> => {
      const response = await client.post(text)
      if (!response.startsWith('{"ok":true')) throw new Error(response)
    }
    return { once, close: () => client[Symbol.dispose]() }
  })
  return perS
}

function report(rounds: readonly (readonly PhaseResult[])[]): void {
  const phases = rounds.flat()
  const medians = factors.map((factor) =>
    medianPhase(phases.filter((phase) => phase.factor === factor)),
  )
  console.log(`Load of the machine, 1, 5 and 15 minutes: ${loadText()}.\n`)
  console.log(markdownTable(head, medians.map(toCells)))
  const violations = findViolations(medians, rounds)
  for (const violation of violations) console.error(`Limit exceeded: ${violation}`)
  if (violations.length > 0) process.exitCode = 1
}

const head = [
  'load',
  'sent/s',
  'successful/s',
  'p99 ms',
  'rejected',
  'rejected p50 ms',
  'rejected p99 ms',
  'rejected max ms',
  'failed',
  'peak memory MiB',
  'CPU ms per call',
]

function toCells(phase: PhaseResult): string[] {
  const { factor, sentPerS, goodputPerS, acceptedP99Ms, rejectedCount, failedCount } = phase
  return [
    `${factor}×`,
    sentPerS.toFixed(1),
    goodputPerS.toFixed(1),
    acceptedP99Ms.toFixed(0),
    String(rejectedCount),
    rejectedCount > 0 ? phase.rejectedP50Ms.toFixed(1) : '–',
    rejectedCount > 0 ? phase.rejectedP99Ms.toFixed(1) : '–',
    rejectedCount > 0 ? phase.rejectedMaxMs.toFixed(1) : '–',
    String(failedCount),
    (phase.peakRssBytes / 2 ** 20).toFixed(0),
    phase.cpuMsPerCall.toFixed(1),
  ]
}

function loadText(): string {
  return loadavg()
    .map((load) => load.toFixed(1))
    .join(', ')
}
