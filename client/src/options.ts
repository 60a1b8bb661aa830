import type { ClientEvent } from './client-event.ts'

export type ClientOptions = {
  /** Where the service is, such as `https://faces.example.com`; a path before `/v1` may follow. */
  readonly baseUrl: string | URL
  /** The whole key. It is sent to `baseUrl` and nowhere else, and stands in no error or event. */
  readonly apiKey: string
  /** The most attempts of one call, the first included. Default 5. */
  readonly attemptsMax?: number | undefined
  /** The longest wait for the answer to one attempt, ms. Default 30,000. */
  readonly attemptMsMax?: number | undefined
  /** The longest time for a call with all its attempts and waits, ms. Default 90,000. */
  readonly callMsMax?: number | undefined
  /** Told of every attempt, for logs and metrics. What it throws is ignored. */
  readonly onEvent?: ((event: ClientEvent) => void) | undefined
  /** Another `fetch` than that of the platform, such as one with a proxy or certificates. */
  readonly fetch?: typeof fetch | undefined
}

/** What one call may ask for itself. */
export type CallOptions = {
  /** Ends the call; it then throws the reason of the signal. */
  readonly signal?: AbortSignal | undefined
  /** A UUID of your own: the same call may then be sent again by another process. */
  readonly requestId?: string | undefined
  /** Asks how the answer came about; needs the permission `debug`. */
  readonly debug?: boolean | undefined
  readonly attemptsMax?: number | undefined
  readonly attemptMsMax?: number | undefined
  readonly callMsMax?: number | undefined
}

/** Options with their defaults, checked. */
export type ResolvedOptions = {
  /** Without a slash at its end. */
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

/** @throws TypeError that names the option that is wrong; never its value, which may be a key. */
export function readOptions(options: ClientOptions): ResolvedOptions {
  const { apiKey, onEvent } = options
  // A platform would quote a key that cannot be a header in its own error.
  if (typeof apiKey !== 'string' || !/^[\x21-\x7e]+$/u.test(apiKey))
    throw new TypeError('apiKey: must be the whole key, without spaces or line breaks')
  return {
    baseUrl: readBaseUrl(options.baseUrl),
    apiKey,
    limits: readLimits(options, defaultLimits),
    onEvent: (event) => {
      try {
        onEvent?.(event)
      } catch {
        // A log that fails must not fail the call that it tells of.
      }
    },
    // Browsers refuse to call a fetch that is detached from its global.
    fetch: options.fetch ?? ((...call) => globalThis.fetch(...call)),
  }
}

/** @throws TypeError that names the limit that is no number from 1 on. */
export function readLimits(wanted: CallOptions, fallback: RetryLimits): RetryLimits {
  const read = (name: keyof RetryLimits): number => {
    const value = wanted[name] ?? fallback[name]
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
    throw new TypeError('baseUrl: must have neither a name and password nor ? or #')
  return origin + pathname.replace(/\/+$/u, '')
}
