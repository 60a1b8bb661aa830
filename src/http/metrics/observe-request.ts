import { newId } from '../../lib/ids.ts'
import type { Log } from '../../lib/log.ts'
import {
  traceCall,
  addCallAttributes,
  currentCallAttributes,
  type CallAttributes,
  type CallObserver,
} from '../../lib/observability/call-trace.ts'

/** What is told of requests while they run and when they are answered. */
export type RequestObserver = CallObserver & {
  readonly onRequestCompleted?: ((facts: CallAttributes, durationMs: number) => void) | undefined
}

export type ObservedRequest = {
  readonly method: string
  readonly route: string
  /** Asked by machines every few seconds, or a file: counted, and nothing more. */
  readonly isQuiet: boolean
  readonly traceparent: string | undefined
}

/** What left. */
export type SentResponse = { readonly status: number }

/**
 * One request as logs, metrics and traces see it. It has an id from its first line on; one that the
 * caller sends takes its place once the body is read.
 */
export function observeRequest(
  { method, route, isQuiet, traceparent }: ObservedRequest,
  work: () => Promise<SentResponse>,
  { log, watch = {} }: { readonly log: Log; readonly watch?: RequestObserver | undefined },
): Promise<void> {
  const startMs = performance.now()
  const facts = { requestId: newId(), method, route }
  const watching = isQuiet ? {} : watch
  return traceCall({ attributes: facts, observer: watching, traceparent }, async () => {
    addCallAttributes(await work())
    const durationMs = performance.now() - startMs
    watch.onRequestCompleted?.(currentCallAttributes(), durationMs)
    if (!isQuiet) log.debug({ ...currentCallAttributes(), durationMs }, 'served')
  })
}
