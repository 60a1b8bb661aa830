import type { IncomingMessage } from 'node:http'

const hostCharacters = /^[\w.:[\]-]+$/u

/**
 * HTTP/1.1 requires exactly one valid header `Host` (RFC 9112, section 3.2); a proxy and the service
 * could use different ones.
 *
 * @param host the header, or `X-Forwarded-Host` of a trusted proxy.
 * @returns what is wrong; undefined if nothing is.
 */
export function findHostProblem(
  { rawHeaders, httpVersion }: Pick<IncomingMessage, 'rawHeaders' | 'httpVersion'>,
  host: string,
): string | undefined {
  const count = countHosts(rawHeaders)
  if (count > 1) return 'Send the header Host only once.'
  if (count === 0) return httpVersion === '1.1' ? 'The header Host is missing.' : undefined
  const isValid = hostCharacters.test(host) && URL.canParse(`http://${host}`)
  return isValid
    ? undefined
    : 'The header Host must be a name or an address, with or without a port.'
}

/**
 * The router ends the path at a number sign, which the target of a request cannot contain (RFC 9112,
 * section 3.2): `DELETE /subjects/#1` would be `DELETE /subjects/`.
 *
 * @param target the path and the query as they were sent.
 * @returns what is wrong; undefined if nothing is.
 */
export function findTargetProblem(target: string): string | undefined {
  return target.includes('#') ? 'The URL is malformed: write # as %23.' : undefined
}

/** @param rawHeaders the names and values in turn. */
function countHosts(rawHeaders: readonly string[]): number {
  let count = 0
  for (let index = 0; index < rawHeaders.length; index += 2) {
    const name = rawHeaders[index]
    if (name?.length === 4 && name.toLowerCase() === 'host') count++
  }
  return count
}
