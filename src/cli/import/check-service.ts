import { z } from 'zod'
import type { ServiceAccess } from '../context/saved-context.ts'
import { lastingFailure } from './lasting-failure.ts'
import { readStatedLimit, type StatedLimit } from './import-pace.ts'
import { parseJsonText } from './list-entries.ts'

const answerMsMax = 15_000

/**
 * Checks before an import that the service can be reached and accepts the key.
 *
 * @returns the rate limit of the project; undefined if the service does not state it.
 * @throws Error with the remedy.
 */
export async function checkService({ url, key }: ServiceAccess): Promise<StatedLimit | undefined> {
  const headers = { 'x-api-key': key }
  const response = await requestService(url, '/v1/subjects?limit=1', { headers }, answerMsMax)
  const body = await response.text()
  if (response.status >= 300 && response.status < 400)
    throw new Error(`${url} is a redirect, which is not followed with the key; check --url`)
  // 403: the key may enroll although it may not list subjects.
  if (response.status === 401 || response.status === 404 || response.status === 405)
    throw new Error(lastingFailure(response.status, detailOf(body)))
  return readStatedLimit(response.headers)
}

/** Sends a request to a service. @throws Error with the remedy when there is no response. */
export async function requestService(
  url: string,
  path: string,
  request: RequestInit,
  msMax: number,
): Promise<Response> {
  try {
    const signal = AbortSignal.timeout(msMax)
    // Following a redirect would send the key to its target.
    return await fetch(`${url}${path}`, { ...request, redirect: 'manual', signal })
  } catch (cause) {
    throw new Error(
      `${url} cannot be reached: ${reasonOf(cause)}; start the service, or pass its address with --url`,
      { cause },
    )
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

/** Returns why a request has no response. */
export function reasonOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error)
  if (error.cause instanceof Error) return reasonOf(error.cause)
  if (error.name === 'TimeoutError') return 'no response in time'
  const code = 'code' in error ? String(error.code) : ''
  return connectFailures[code] ?? (error.message || code)
}

const detailSchema = z.object({ detail: z.string() })

/** Returns the text of a body `{"detail"}`. */
export function detailOf(body: string): string {
  return parseJsonText(detailSchema, body)?.detail ?? ''
}
