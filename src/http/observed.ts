import { newId } from '../lib/ids.ts'
import type { Log } from '../lib/log.ts'
import { inCall, note, noted, type Facts, type Watch } from '../lib/trace.ts'

/** What is told of requests while they run and when they are answered. */
export type ServerWatch = Watch & {
  readonly onServed?: ((facts: Facts, durationMs: number) => void) | undefined
}

export type Asked = {
  readonly method: string
  readonly route: string
  /** Asked by machines every few seconds, or a file: counted, and nothing more. */
  readonly isQuiet: boolean
  readonly traceparent: string | undefined
}

/** What left. */
export type Sent = { readonly status: number }

/**
 * One request as logs, metrics and traces see it. It has an id from its first line on; one that the
 * caller sends takes its place once the body is read.
 */
export function observed(
  { method, route, isQuiet, traceparent }: Asked,
  work: () => Promise<Sent>,
  { log, watch = {} }: { readonly log: Log; readonly watch?: ServerWatch | undefined },
): Promise<void> {
  const startMs = performance.now()
  const facts = { requestId: newId(), method, route }
  const watching = isQuiet ? {} : watch
  return inCall({ facts, watch: watching, traceparent }, async () => {
    note(await work())
    const durationMs = performance.now() - startMs
    watch.onServed?.(noted(), durationMs)
    if (!isQuiet) log.debug({ ...noted(), durationMs }, 'served')
  })
}
