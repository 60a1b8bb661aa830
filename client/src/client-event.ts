import type { FacegateErrorCode } from './facegate-error.ts'

/** What happened to one attempt of a call. It holds no picture, no parameter and no key. */
export type ClientEvent = {
  /** `answered`: well. `retrying`: another attempt follows. `failed`: the call ends. */
  readonly outcome: 'answered' | 'retrying' | 'failed'
  /** An action such as `svc.detect`, or a route such as `GET /v1/subjects`. */
  readonly operation: string
  /** Known from the first attempt on for actions; of routes only when the service says it. */
  readonly requestId: string | undefined
  /** Counted from 1. */
  readonly attempt: number
  readonly durationMs: number
  readonly code?: FacegateErrorCode
  readonly status?: number | undefined
  /** How long the next attempt waits; with `retrying`. */
  readonly delayMs?: number
}
