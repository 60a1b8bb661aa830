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
  open: (index: number) => Promise<LoadClient>,
): Promise<LoadResult> {
  const latenciesMs: number[] = []
  const fromMs = performance.now() + warmUpMs
  const toMs = fromMs + measureMs
  const runClient = async (_: unknown, index: number): Promise<void> => {
    const client = await open(index)
    for (let startMs = performance.now(); startMs < toMs;) {
      await client.once()
      const endMs = performance.now()
      if (startMs >= fromMs) latenciesMs.push(endMs - startMs)
      startMs = endMs
    }
    client.close()
  }
  await Promise.all(Array.from({ length: clients }, runClient))
  return {
    ...quantiles(latenciesMs),
    perS: latenciesMs.length / ((performance.now() - fromMs) / 1000),
  }
}

/** Calls an empty action. */
export async function openEchoClient(url: string, key: string): Promise<LoadClient> {
  const client = await openClient(url, key)
  const once = async (): Promise<void> => {
    const body = { action: 'svc.echo', requestId: newId(), params: { text: 'bench' } }
    const response = await client.post(JSON.stringify(body))
    if (!response.startsWith('{"ok":true')) throw new Error(response)
  }
  return { once, close: () => client[Symbol.dispose]() }
}

export function quantiles(values: readonly number[]): Quantiles {
  const sorted = values.toSorted((a, b) => a - b)
  const quantile = (share: number): number =>
    sorted[Math.floor(sorted.length * share)] ?? Number.NaN
  return { p50Ms: quantile(0.5), p99Ms: quantile(0.99) }
}

export function formatMs(value: number): string {
  return value.toFixed(2)
}
