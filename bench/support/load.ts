import { newId } from '../../src/lib/ids.ts'
import { openClient } from './http-client.ts'

export type Quantiles = { readonly p50Ms: number; readonly p99Ms: number }
export type LoadResult = Quantiles & { readonly perS: number }

/** A client that runs one operation at a time. */
export type LoadClient = { readonly once: () => Promise<void>; readonly close: () => void }

const warmUpMs = 1000

/**
 * Runs the given number of clients in parallel. The first second is not measured.
 *
 * @param open creates the client with this index.
 */
export async function measure(
  clients: number,
  measureMs: number,
  open: (worker: number) => Promise<LoadClient>,
): Promise<LoadResult> {
  const took: number[] = []
  const fromMs = performance.now() + warmUpMs
  const toMs = fromMs + measureMs
  const work = async (_: unknown, nth: number): Promise<void> => {
    const worker = await open(nth)
    for (let startMs = performance.now(); startMs < toMs;) {
      await worker.once()
      const endMs = performance.now()
      if (startMs >= fromMs) took.push(endMs - startMs)
      startMs = endMs
    }
    worker.close()
  }
  await Promise.all(Array.from({ length: clients }, work))
  return { ...quantiles(took), perS: took.length / ((performance.now() - fromMs) / 1000) }
}

/** Calls an empty action. */
export async function openEchoClient(url: string, key: string): Promise<LoadClient> {
  const client = await openClient(url, key)
  const once = async (): Promise<void> => {
    const body = { action: 'svc.echo', requestId: newId(), params: { say: 'bench' } }
    const answer = await client.post(JSON.stringify(body))
    if (!answer.startsWith('{"ok":true')) throw new Error(answer)
  }
  return { once, close: () => client[Symbol.dispose]() }
}

export function quantiles(values: readonly number[]): Quantiles {
  const sorted = values.toSorted((a, b) => a - b)
  const at = (share: number): number => sorted[Math.floor(sorted.length * share)] ?? Number.NaN
  return { p50Ms: at(0.5), p99Ms: at(0.99) }
}

export function formatMs(value: number): string {
  return value.toFixed(2)
}
