import { newId } from '../../lib/ids.ts'
import type { Log } from '../../lib/log.ts'
import {
  traceCall,
  addCallAttributes,
  currentCallAttributes,
  type CallAttributes,
  type CallObserver,
} from '../../lib/observability/call-trace.ts'

/** Receives the spans of a request while it runs, and its duration when it is completed. */
export type RequestObserver = CallObserver & {
  readonly onRequestCompleted?:
    | ((attributes: CallAttributes, durationMs: number) => void)
    | undefined
}

export type ObservedRequest = {
  readonly method: string
  readonly route: string
  /** The request is counted, but neither traced nor logged, such as health checks and files. */
  readonly isQuiet: boolean
  readonly traceparent: string | undefined
}

/** The response that was sent. */
export type SentResponse = { readonly status: number }

/**
 * Runs a request and reports it to logs, metrics and traces. The request has a generated id from the
 * start; a requestId of the caller replaces it after the body is read.
 */
export function observeRequest(
  { method, route, isQuiet, traceparent }: ObservedRequest,
  work: () => Promise<SentResponse>,
  { log, observer = {} }: { readonly log: Log; readonly observer?: RequestObserver | undefined },
): Promise<void> {
  const startMs = performance.now()
  const attributes = { requestId: newId(), method, route }
  const callObserver = isQuiet ? {} : observer
  return traceCall({ attributes, observer: callObserver, traceparent }, async () => {
    addCallAttributes(await work())
    const durationMs = performance.now() - startMs
    observer.onRequestCompleted?.(currentCallAttributes(), durationMs)
    if (!isQuiet) log.debug({ ...currentCallAttributes(), durationMs }, 'served')
  })
}
