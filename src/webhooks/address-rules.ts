import type { LookupOptions } from 'node:dns'
import dns from 'node:dns/promises'
import { isIP, type LookupFunction } from 'node:net'
import { callbackify } from 'node:util'
import ipaddr from 'ipaddr.js'
import { createKeyedQueue } from '../lib/limits/keyed-queue.ts'

/** The addresses and protocols that a webhook may use. */
export type AddressRules = {
  /** Networks in CIDR notation that are allowed although they are not public. */
  readonly allowedNetworks: readonly string[]
  readonly isHttpAllowed: boolean
}

/** Maximum length of a webhook's URL. */
const urlCharsMax = 2048

/**
 * Returns what is wrong with the URL of a webhook, or undefined. Names are resolved only when an event
 * is delivered, because their addresses can change.
 */
export function findUrlProblem(text: string, rules: AddressRules): string | undefined {
  if (text.length > urlCharsMax) return `must have at most ${urlCharsMax} characters`
  const url = /\p{C}/u.test(text) ? null : URL.parse(text)
  if (!url || !/^https?:$/u.test(url.protocol))
    return 'must be an https address without control characters'
  if (url.protocol === 'http:' && !rules.isHttpAllowed)
    return 'must begin with https://; WEBHOOK_ALLOW_HTTP=on also allows http'
  if (url.username + url.password !== '') return 'must not contain a user name or a password'
  if (url.hash !== '') return 'must not contain a fragment (#)'
  const host = url.hostname.replace(/^\[(.*)\]$/u, '$1')
  return isIP(host) > 0 && !isAllowedAddress(host, rules) ? refusal(host) : undefined
}

/**
 * Returns the origin of a webhook's URL for people who may not manage webhooks, and for the audit log:
 * path and query can contain a token of the receiver.
 */
export function withoutPath(text: string): string {
  const { origin, pathname, search } = new URL(text)
  return pathname + search === '/' ? origin : `${origin}/…`
}

/**
 * Returns whether events may be sent to an address: it is public, or in an allowed network. Addresses
 * that contain an IPv4 address (mapped) are judged by it; other ranges for translation and tunnels
 * are refused.
 */
export function isAllowedAddress(
  address: string,
  { allowedNetworks }: Pick<AddressRules, 'allowedNetworks'>,
): boolean {
  if (isIP(address) === 0) return false
  const parsed = ipaddr.process(address)
  return isPublic(parsed) || allowedNetworks.some((network) => isIn(parsed, network))
}

type IpAddress = ReturnType<typeof ipaddr.process>

/** Azure serves metadata of its machines at this address, which no registry lists as special. */
const azureMetadata = '168.63.129.16/32'
const globalIpv6 = '2000::/3'

function isPublic(address: IpAddress): boolean {
  if (address.range() !== 'unicast') return false
  return address.kind() === 'ipv4' ? !isIn(address, azureMetadata) : isIn(address, globalIpv6)
}

function isIn(address: IpAddress, network: string): boolean {
  const [base, bits] = ipaddr.parseCIDR(network)
  return base.kind() === address.kind() && address.match(base, bits)
}

function refusal(address: string): string {
  return `${address} is not a public address; WEBHOOK_ALLOWED_NETWORKS can allow it`
}

/**
 * Returns a function that creates the name resolution of a request: the connection is made to an
 * address that was checked, so that a name cannot change its address in between.
 *
 * Node resolves two names at a time, and one without a response takes longer than an attempt. An
 * account resolves one at a time: the other remains for other accounts and for the database.
 *
 * @param waitingMax names of an account that wait.
 */
export function createLookups(rules: AddressRules, waitingMax: number) {
  const inTurn = createKeyedQueue({ waitingMax, detail: 'Too many names are resolved.' })
  return (accountId: string, signal: AbortSignal): LookupFunction =>
    callbackify(async (hostname: string, options: LookupOptions) => {
      const resolve = () => dns.lookup(hostname, { ...options, all: true })
      const addresses = await inTurn(accountId, resolve, { signal })
      const allowed = addresses.filter(({ address }) => isAllowedAddress(address, rules))
      if (allowed.length === 0) throw new Error(refusal(addresses[0]?.address ?? hostname))
      return allowed
    })
}
