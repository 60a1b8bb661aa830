import { setTimeout as sleep } from 'node:timers/promises'
import type { TestResponse } from '../../test/support/facegate/test-facegate.ts'
import type { Latencies, LatencyKind } from '../measure/latencies.ts'
import type { SoakServer } from '../server.ts'
import { addViolation, countAnswer, type CallRecord } from './call-record.ts'

export type CallTarget = {
  readonly server: SoakServer
  readonly record: CallRecord
  readonly latencies: Latencies
}

export type CallBody = {
  readonly action: string
  readonly requestId: string
  readonly params: object
}

const attemptsMax = 60
const retryMsMax = 10_000

/**
 * Sends a call until it is answered with an envelope: a lost connection and HTTP 503 are retried with
 * the same request id and a growing pause, as a client must do. The latency is that of the accepted
 * attempt.
 *
 * @returns the envelope; undefined when all attempts were refused or the response was a fault. The
 *   call may have run or not, so only a second charge would be wrong.
 */
export async function sendCall(
  { server, record, latencies }: CallTarget,
  body: CallBody,
  kind: LatencyKind,
): Promise<TestResponse['body']> {
  for (let attempt = 0; attempt < attemptsMax; attempt++) {
    const client = await server.running()
    const startMs = performance.now()
    const response = await client.post(body).catch((error: unknown) => {
      countFailure(record, error)
    })
    if (response) countAnswer(record, answerOf(response))
    if (response?.status === 200) {
      if (response.body.ok) latencies.record(kind, startMs)
      return response.body
    }
    if (response && response.status !== 503) {
      addViolation(record, `HTTP ${response.status} for ${body.action} ${body.requestId}`)
      return undefined
    }
    await sleep(Math.min(retryMsMax, 250 * 2 ** attempt) * (0.5 + Math.random() / 2))
  }
  countAnswer(record, 'given up')
  return undefined
}

/** The check of the response format fails with an assertion; a lost connection does not. */
function countFailure(record: CallRecord, error: unknown): void {
  if (error instanceof Error && error.name === 'AssertionError')
    addViolation(record, `malformed response: ${error.message}`)
  countAnswer(record, 'disconnected')
}

export function answerOf({ status, body }: TestResponse): string {
  if (status !== 200) return `HTTP ${status}`
  return body.ok ? 'ok' : String(body.errors[0]?.code)
}
