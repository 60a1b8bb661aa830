import { Agent, request } from 'node:http'

/** How one call ended: its status, or `undefined` if the connection failed. */
export type OpenLoopResult = {
  readonly status: number | undefined
  readonly hasRetryAfter: boolean
  /** From the start of the request to the end of the response. */
  readonly latencyMs: number
  readonly endedAtMs: number
}

export type OpenLoopOptions = {
  readonly url: string
  readonly key: string
  readonly body: Buffer
  readonly callsPerS: number
  readonly durationMs: number
}

/**
 * Sends calls at a constant rate, whether or not earlier calls were answered, as independent clients
 * do. Resolves when every call has ended.
 */
export async function sendAtConstantRate(options: OpenLoopOptions): Promise<OpenLoopResult[]> {
  const { callsPerS, durationMs } = options
  const agent = new Agent({ keepAlive: true, maxFreeSockets: Number.POSITIVE_INFINITY })
  const calls: Promise<OpenLoopResult>[] = []
  const startMs = performance.now()
  const callCount = Math.round((callsPerS * durationMs) / 1000)
  await new Promise<void>((resolve) => {
    // A late timer sends all calls that are due.
    const sendDue = (): void => {
      const dueCount = Math.floor(((performance.now() - startMs) * callsPerS) / 1000) + 1
      while (calls.length < Math.min(dueCount, callCount)) calls.push(sendCall(options, agent))
      if (calls.length < callCount) setTimeout(sendDue, 1)
      else resolve()
    }
    sendDue()
  })
  const results = await Promise.all(calls)
  agent.destroy()
  return results
}

/** Sends one call and reads its response. */
function sendCall(
  { url, key, body }: Pick<OpenLoopOptions, 'url' | 'key' | 'body'>,
  agent: Agent,
): Promise<OpenLoopResult> {
  const startMs = performance.now()
  return new Promise((resolve) => {
    const end = (status: number | undefined, hasRetryAfter = false): void => {
      const endedAtMs = performance.now()
      resolve({ status, hasRetryAfter, latencyMs: endedAtMs - startMs, endedAtMs })
    }
    const headers = {
      'x-api-key': key,
      'content-type': 'application/json',
      'content-length': body.length,
    }
    const call = request(`${url}/v1/face/execute`, { method: 'POST', agent, headers })
    call.on('error', () => end(undefined))
    call.on('response', (response) => {
      response.on('error', () => end(undefined))
      response.on('end', () =>
        end(response.statusCode, response.headers['retry-after'] !== undefined),
      )
      response.resume()
    })
    call.end(body)
  })
}
