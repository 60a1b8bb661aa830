import { once } from 'node:events'
import { connect } from 'node:net'
import { z } from 'zod'
import { lastingFailure } from './lasting-failure.ts'
import { readStatedLimit, type StatedLimit } from './import-pace.ts'
import { parseJsonText } from './parse-json-text.ts'

/** Time to connect. A running service is connected to at once, however busy it is. */
const connectMsMax = 2000
/** Time for the answer of a service that accepted the connection. */
const answerMsMax = 15_000

/**
 * Checks before an import that the service can be reached and accepts the key.
 *
 * @returns the rate limit of the project; undefined if the service does not state it.
 * @throws Error with the remedy.
 */
export async function checkService(url: string, key: string): Promise<StatedLimit | undefined> {
  await requireConnection(url)
  const response = await fetch(`${url}/v1/subjects?limit=1`, {
    headers: { 'x-api-key': key },
    redirect: 'manual',
    signal: AbortSignal.timeout(answerMsMax),
  }).catch((cause: unknown) => {
    throw new Error(`${url} accepts connections but does not answer; check the service`, { cause })
  })
  const body = await response.text()
  if (response.status >= 300 && response.status < 400)
    throw new Error(`${url} is a redirect, which is not followed with the key; check --url`)
  // 403: the key may enroll although it may not list subjects.
  if (response.status === 401 || response.status === 404 || response.status === 405)
    throw new Error(lastingFailure(response.status, detailOf(body)))
  return readStatedLimit(response.headers)
}

/** @throws Error with the remedy when nothing accepts connections at the address. */
export async function requireConnection(url: string): Promise<void> {
  const { hostname, port, protocol } = new URL(url)
  const host = hostname.replace(/^\[|\]$/gu, '')
  const socket = connect({ host, port: Number(port) || (protocol === 'https:' ? 443 : 80) })
  try {
    await once(socket, 'connect', { signal: AbortSignal.timeout(connectMsMax) })
  } catch (cause) {
    throw new Error(
      `${url} cannot be reached: ${reasonOf(cause)}; start the service, or pass its address with --url`,
      { cause },
    )
  } finally {
    socket.destroy()
  }
}

const connectFailures: Readonly<Record<string, string>> = {
  ECONNREFUSED: 'no service listens there',
  ENOTFOUND: 'there is no host with this name',
  EAI_AGAIN: 'the name of the host could not be resolved',
  EHOSTUNREACH: 'there is no route to the host',
  ENETUNREACH: 'there is no route to the network',
  ECONNRESET: 'the connection was closed',
}

export function reasonOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error)
  if (error.name === 'AbortError') return `no connection within ${connectMsMax / 1000} s`
  const code = 'code' in error ? String(error.code) : ''
  return connectFailures[code] ?? (error.message || code)
}

const detailSchema = z.object({ detail: z.string() })

/** Returns the text of a body `{"detail"}`. */
export function detailOf(body: string): string {
  return parseJsonText(detailSchema, body)?.detail ?? ''
}
