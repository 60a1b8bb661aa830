import type { IncomingMessage } from 'node:http'
import { isIP } from 'node:net'
import { createCheckedLookup, findUrlProblem, hostOf, type AddressRules } from './address-rules.ts'

export type SendOptions = {
  readonly rules: AddressRules
  /** The time for the whole request, from the name resolution to the end of the response. */
  readonly timeoutMs: number
  /** Aborts when the server stops. */
  readonly signal: AbortSignal
}

export type EventRequest = {
  readonly url: string
  readonly headers: Readonly<Record<string, string>>
  readonly body: string
}

/** The result of an attempt. `error` is undefined for a status from 200 to 299. */
export type SendResult = { readonly status: number | null; readonly error: string | null }

/** The rest of a longer response is not read. */
const responseBytesMax = 16_384

/** Sends an event. It follows no redirect, and discards the body of the response. */
export async function sendEvent(event: EventRequest, options: SendOptions): Promise<SendResult> {
  const { rules, timeoutMs } = options
  const problem = findUrlProblem(event.url, rules)
  if (problem !== undefined) return { status: null, error: `the URL ${problem}` }
  const timeout = AbortSignal.timeout(timeoutMs)
  try {
    const status = await post(event, rules, AbortSignal.any([options.signal, timeout]))
    return { status, error: errorOf(status) }
  } catch (error) {
    if (timeout.aborted) return { status: null, error: `no response within ${timeoutMs} ms` }
    return { status: null, error: messageOf(error) }
  }
}

function post(
  { url: text, headers, body }: EventRequest,
  rules: AddressRules,
  signal: AbortSignal,
): Promise<number> {
  const url = new URL(text)
  // An import statement would load all HTTP clients of Node, 50 ms at each start.
  const { request } = process.getBuiltinModule(
    url.protocol === 'https:' ? 'node:https' : 'node:http',
  )
  const bytes = Buffer.from(body)
  return new Promise((resolve, reject) => {
    const sent = request(url, {
      method: 'POST',
      headers: { ...headers, 'content-length': String(bytes.length) },
      // Each delivery has its own connection, to an address that was checked for it.
      agent: false,
      signal,
      ...(isIP(hostOf(url)) === 0 && { lookup: createCheckedLookup(rules) }),
    })
    sent.on('error', reject)
    sent.on('response', (response) => {
      discardBody(response).then(() => resolve(response.statusCode ?? 0), reject)
    })
    sent.end(bytes)
  })
}

/** Reads the response to its end, or closes the connection after `responseBytesMax`. */
async function discardBody(response: IncomingMessage): Promise<void> {
  let received = 0
  for await (const chunk of response) {
    received += (chunk as Buffer).length
    if (received > responseBytesMax) return void response.destroy()
  }
}

function errorOf(status: number): string | null {
  if (status >= 200 && status <= 299) return null
  if (status >= 300 && status <= 399) return `status ${status}: redirects are not followed`
  return `status ${status}`
}

const errorCharsMax = 300

function messageOf(error: unknown): string {
  // A host with several addresses fails with an AggregateError, whose own message is empty.
  const errors: unknown[] = error instanceof AggregateError ? error.errors : [error]
  const messages = errors.map((one) => (one instanceof Error ? one.message : String(one)))
  return messages.join('; ').slice(0, errorCharsMax)
}
