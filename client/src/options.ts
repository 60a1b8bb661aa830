import type { ClientEvent } from './client-event.ts'

export type ClientOptions = {
  /** The URL of the service, such as `https://faces.example.com`, with an optional path before `/v1`. */
  readonly baseUrl: string | URL
  /** The full key. It is sent only to `baseUrl`. No error or event contains it. */
  readonly apiKey: string
  /** The maximum number of attempts of one call, including the first. Default 5. */
  readonly attemptsMax?: number | undefined
  /** The maximum time to wait for the response to one attempt, ms. Default 30,000. */
  readonly attemptMsMax?: number | undefined
  /** The maximum time of a call with all its attempts and waits, ms. Default 90,000. */
  readonly callMsMax?: number | undefined
  /** Called after every attempt, for logs and metrics. Errors it throws are ignored. */
  readonly onEvent?: ((event: ClientEvent) => void) | undefined
  /** Replaces the `fetch` of the platform, for example to use a proxy or certificates. */
  readonly fetch?: typeof fetch | undefined
}

/** Options of one call. */
export type CallOptions = {
  /** Cancels the call, which then throws the reason of the signal. */
  readonly signal?: AbortSignal | undefined
  /** Your UUID for the call, so that another process can retry the same call. Default: random. */
  readonly requestId?: string | undefined
  /** Returns details of the computation. Requires the permission `debug`. */
  readonly debug?: boolean | undefined
  readonly attemptsMax?: number | undefined
  readonly attemptMsMax?: number | undefined
  readonly callMsMax?: number | undefined
}

/** Validated options with their defaults. */
export type ResolvedOptions = {
  /** Without a trailing slash. */
  readonly baseUrl: string
  readonly apiKey: string
  readonly limits: RetryLimits
  readonly onEvent: (event: ClientEvent) => void
  readonly fetch: typeof fetch
}

export type RetryLimits = {
  readonly attemptsMax: number
  readonly attemptMsMax: number
  readonly callMsMax: number
}

const defaultLimits: RetryLimits = { attemptsMax: 5, attemptMsMax: 30_000, callMsMax: 90_000 }

/** @throws TypeError that names the invalid option, but not its value, which may be a key. */
export function readOptions(options: ClientOptions): ResolvedOptions {
  const { apiKey, onEvent } = options
  // The platform's error about an invalid header would quote the key.
  if (typeof apiKey !== 'string' || !/^[\x21-\x7e]+$/u.test(apiKey))
    throw new TypeError('apiKey: must be the full key, without spaces or line breaks')
  return {
    baseUrl: readBaseUrl(options.baseUrl),
    apiKey,
    limits: readLimits(options, defaultLimits),
    onEvent: (event) => {
      try {
        onEvent?.(event)
      } catch {
        // A failed log entry must not fail the call.
      }
    },
    // Browsers reject a call of fetch without its global object.
    fetch: options.fetch ?? ((...args) => globalThis.fetch(...args)),
  }
}

/** @throws TypeError that names the limit that is not a number of at least 1. */
export function readLimits(options: CallOptions, fallback: RetryLimits): RetryLimits {
  const read = (name: keyof RetryLimits): number => {
    const value = options[name] ?? fallback[name]
    if (!Number.isFinite(value) || value < 1) throw new TypeError(`${name}: must be at least 1`)
    return value
  }
  return {
    attemptsMax: Math.floor(read('attemptsMax')),
    attemptMsMax: read('attemptMsMax'),
    callMsMax: read('callMsMax'),
  }
}

function readBaseUrl(url: string | URL): string {
  const text = String(url)
  if (!URL.canParse(text)) throw new TypeError('baseUrl: must be an absolute URL')
  const { protocol, origin, pathname, search, hash, username, password } = new URL(text)
  if (protocol !== 'http:' && protocol !== 'https:')
    throw new TypeError('baseUrl: must begin with http:// or https://')
  if (search || hash || username || password)
    throw new TypeError('baseUrl: must not contain a user name, a password, ? or #')
  return origin + pathname.replace(/\/+$/u, '')
}
