import { randomUUID } from 'node:crypto'
import { setTimeout as sleep } from 'node:timers/promises'
import { imageParams } from '../gallery/test-gallery.ts'

export type TrafficCall = {
  readonly action: string
  readonly params: { readonly externalId?: string }
}

/** A call that returned 200. */
export type AcknowledgedCall = TrafficCall & { readonly requestId: string }

/** Clients that send calls one after another until they are stopped. */
export type RetryingTraffic = {
  readonly acknowledged: readonly AcknowledgedCall[]
  /** The statuses of failed tries. Each try is repeated with the same requestId. */
  readonly failures: ReadonlyMap<number, number>
  /** The problems that a client must not see. */
  readonly problems: readonly string[]
  readonly stop: () => Promise<void>
}

const retryDelayMs = 50

/** Sends calls as the documentation recommends: a 503 is repeated with the same requestId. */
export function startTraffic(
  url: string,
  key: string,
  { clients, nextCall }: { readonly clients: number; readonly nextCall: () => TrafficCall },
): RetryingTraffic {
  const acknowledged: AcknowledgedCall[] = []
  const failures = new Map<number, number>()
  const problems: string[] = []
  const stopping = new AbortController()
  const callUntilDone = async (call: TrafficCall, requestId: string): Promise<void> => {
    for (;;) {
      const response = await fetch(`${url}/v1/face/execute`, {
        method: 'POST',
        headers: { 'x-api-key': key, 'content-type': 'application/json' },
        body: JSON.stringify({ ...call, requestId }),
      }).catch(() => undefined)
      const status = response?.status ?? 0
      const text = await response?.text().catch(() => '')
      if (status === 200) {
        if (JSON.parse(text ?? '').ok === true) acknowledged.push({ ...call, requestId })
        else problems.push(text ?? '')
        return
      }
      if (status !== 503 && status !== 0) return void problems.push(`${status} ${text}`)
      failures.set(status, (failures.get(status) ?? 0) + 1)
      await sleep(retryDelayMs)
    }
  }
  const running = Array.from({ length: clients }, async () => {
    while (!stopping.signal.aborted) await callUntilDone(nextCall(), randomUUID())
  })
  return {
    acknowledged,
    failures,
    problems,
    stop: async () => {
      stopping.abort()
      await Promise.all(running)
    },
  }
}

/** Returns a function that returns searches, and an enrollment at every fourth call. */
export function mixedCalls(): () => TrafficCall {
  let number = 0
  return () => {
    number += 1
    const externalId = `person ${number}`
    return number % 4 === 0
      ? { action: 'svc.enroll', params: { ...imageParams(externalId), externalId } }
      : { action: 'svc.identify', params: imageParams('Ben') }
  }
}
