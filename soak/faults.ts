import { setTimeout as sleep } from 'node:timers/promises'
import type { RandomSource } from '../src/lib/random/seeded-random.ts'
import { addViolation, type CallRecord } from './load/call-record.ts'
import type { SoakServer } from './server.ts'

export type FaultCounts = { workerKills: number; serverKills: number; drains: number }

/**
 * The restarts of the server, as shares of the run. They are early, so that the last process lives
 * long enough for its memory to be measured. One more kill ends the load.
 */
const restarts = [
  [0.03, 'SIGKILL'],
  [0.06, 'SIGTERM'],
  [0.09, 'SIGKILL'],
] as const

/** Restarts the server during the load. */
export async function restartServer(
  server: SoakServer,
  { record, counts }: { readonly record: CallRecord; readonly counts: FaultCounts },
  { durationMs, signal }: { readonly durationMs: number; readonly signal: AbortSignal },
): Promise<void> {
  const startMs = performance.now()
  for (const [share, kind] of restarts) {
    const waitMs = Math.max(0, share * durationMs - (performance.now() - startMs))
    await sleep(waitMs, undefined, { signal }).catch(() => undefined)
    if (signal.aborted) return
    const code = await server.restart(kind)
    if (kind === 'SIGKILL') counts.serverKills += 1
    else {
      counts.drains += 1
      if (code !== 0) addViolation(record, `the server exited with ${code} after SIGTERM`)
    }
  }
}

const workerKillMeanMs = 90_000

/** Kills the youngest vision worker at random times. The oldest one is left for the memory slope. */
export async function killWorkers(
  server: SoakServer,
  { random, counts }: { readonly random: RandomSource; readonly counts: FaultCounts },
  { durationMs, signal }: { readonly durationMs: number; readonly signal: AbortSignal },
): Promise<void> {
  const meanMs = Math.min(workerKillMeanMs, durationMs / 10)
  while (!signal.aborted) {
    const waitMs = -Math.log(random()) * meanMs
    await sleep(waitMs, undefined, { signal }).catch(() => undefined)
    if (signal.aborted) return
    if ((await server.killWorker()) !== undefined) counts.workerKills += 1
  }
}
