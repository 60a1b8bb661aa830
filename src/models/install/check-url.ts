/**
 * Returns the URL when models may be downloaded from it. HTTPS is required, because a file without a
 * known checksum could be changed in transit; HTTP is accepted for this machine only.
 *
 * @throws PermanentDownloadError that names the URL.
 */
export function checkUrl(url: URL): URL {
  const isLoopback = /^(?:localhost|127(?:\.\d+){3}|\[::1\])$/u.test(url.hostname)
  if (url.protocol === 'https:' || (url.protocol === 'http:' && isLoopback)) return url
  throw new PermanentDownloadError(`${url.href} is not an HTTPS address`)
}

/** The source refused the request or sent unusable data: a retry cannot succeed. */
export class PermanentDownloadError extends Error {
  override readonly name = 'PermanentDownloadError'
}
