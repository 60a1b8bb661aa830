import { PermanentDownloadError } from './permanent-download-error.ts'

/**
 * Whether models may be fetched from an address: by https, so that nobody on the way changes them
 * before a checksum is known; by http from this machine alone.
 *
 * @throws RefusedError that says what is wrong with it.
 */
export function checkUrl(url: URL): URL {
  const isLoopback = /^(?:localhost|127(?:\.\d+){3}|\[::1\])$/u.test(url.hostname)
  if (url.protocol === 'https:' || (url.protocol === 'http:' && isLoopback)) return url
  throw new PermanentDownloadError(`${url.href} is not an address by https`)
}
