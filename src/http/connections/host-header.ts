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
 * section 3.2): `DELETE /subjects/#1` would be `DELETE /subjects/`. A question mark without a
 * parameter is probably a lost one, without which a request deletes more than intended. The authority
 * of an absolute target replaces the header Host, so that both must be equal.
 *
 * @param host as in `findHostProblem`.
 * @returns what is wrong; undefined if nothing is.
 */
export function findTargetProblem(
  { url: target = '/', method }: Pick<IncomingMessage, 'url' | 'method'>,
  host: string,
): string | undefined {
  if (target.includes('#')) return 'The URL is malformed: write # as %23.'
  if (method === 'DELETE' && /\?&*$/u.test(target))
    return 'The URL has a question mark without a parameter: remove it, or add the parameter.'
  const authority = /^[a-z][\w+.-]*:\/\/(?<authority>[^/?]*)/iu.exec(target)?.groups?.['authority']
  return authority === undefined || authority.toLowerCase() === host.toLowerCase()
    ? undefined
    : 'The host of the URL must be the one of the header Host.'
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
