import type { FacegateErrorCode } from './facegate-error.ts'

/** The result of one attempt of a call. It contains no image, no parameter and no key. */
export type ClientEvent = {
  /** `succeeded` and `failed` end the call. After `retrying` another attempt follows. */
  readonly outcome: 'succeeded' | 'retrying' | 'failed'
  /** An action such as `svc.detect`, or a route such as `GET /v1/subjects`. */
  readonly operation: string
  /** Always set for actions. Set for routes only if the response contains it. */
  readonly requestId: string | undefined
  /** Counted from 1. */
  readonly attempt: number
  readonly durationMs: number
  readonly code?: FacegateErrorCode
  readonly status?: number | undefined
  /** The wait before the next attempt; only with `retrying`. */
  readonly delayMs?: number
}
