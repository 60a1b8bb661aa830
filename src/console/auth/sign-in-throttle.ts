import { createAddressBuckets } from '../../gate/address-buckets.ts'
import type { HttpRequest } from '../../http/route.ts'
import { type Clock, hourMs } from '../../lib/clock.ts'
import { HttpError } from '../../lib/errors.ts'
import { networkOf } from '../../lib/limits/client-network.ts'
import { addAuditEntry } from '../../store/console/audit-log.ts'
import type { ConsoleUser } from '../../store/console/users.ts'
import type { Log } from '../../lib/log.ts'
import type { Store } from '../../store/database.ts'
import type { PasswordSource } from './password-hasher.ts'

/** Slows down password guessing. */
export type SignInThrottle = ReturnType<typeof createSignInThrottle>

/** The typed name; a user with this name need not exist. */
type SignInAttempt = PasswordSource & { readonly nameKey: string }

export type StartedAttempt = ReturnType<SignInThrottle['startAttempt']>

/** Failed attempts without a wait: for one name from one network. */
const freeAttemptsPerName = 5
/** A name is under attack after this number of failed attempts from all networks. */
const attackAttempts = 50
/** Failed attempts without a wait: for all names from one network. */
const freeAttemptsPerNetwork = 20

/** Each further attempt doubles the wait, up to 15 minutes: no user is locked out permanently. */
const waitMsMax = 15 * 60_000
const waitMsMin = 1000

/** A count is deleted after this time without a failed attempt. */
const resetMs = 3_600_000
const countsMax = 100_000

type FailedAttempts = { readonly count: number; readonly lastMs: number }

/**
 * Counts failed attempts per name and network, per network and per name. After the free attempts,
 * each further one doubles the wait of that network. The wait never depends on other networks: a
 * correct password from a network without failures is always checked. While a name
 * is under attack from many networks, each of them has one attempt in 15 minutes. A network from
 * which the user was recently active has no wait for failed attempts with other names.
 */
export function createSignInThrottle(clock: Clock) {
  const failures = createFailureCounts(clock)

  return {
    /**
     * Call it before the password is checked. The attempt counts as failed until `withdraw`, so that
     * parallel attempts gain nothing.
     *
     * @throws HttpError 429 with Retry-After.
     */
    startAttempt: ({ nameKey, clientIp, isKnownAddress }: SignInAttempt) => {
      const network = networkOf(clientIp)
      const nameOfNetwork = `${network} ${nameKey}`
      const anyNetwork = `* ${nameKey}`
      const isUnderAttack = !isKnownAddress && failures.of(anyNetwork).count >= attackAttempts
      if (isUnderAttack) requireNoWait(nameOfNetwork, () => waitMsMax)
      requireNoWait(nameOfNetwork, doublingWait(freeAttemptsPerName))
      if (!isKnownAddress) requireNoWait(network, doublingWait(freeAttemptsPerNetwork))
      const undo = [nameOfNetwork, network, anyNetwork].map(failures.add)
      const withdraw = (): void => undo.forEach((undoOne) => undoOne())
      return {
        /** The password was not checked: the attempt does not count. */
        withdraw,
        /** The password was correct: clears the failures of this name at this network. */
        succeed: (): void => {
          withdraw()
          failures.clear(nameOfNetwork)
        },
      }
    },
  }

  /** @throws HttpError 429 until the wait after the last failure is over. */
  function requireNoWait(key: string, waitMsAfter: (count: number) => number): void {
    const { count, lastMs } = failures.of(key)
    if (count === 0) return
    const waitMs = waitMsAfter(count)
    const remainingMs = lastMs + waitMs - clock()
    if (remainingMs <= 0) return
    const retryAfter = String(Math.ceil(remainingMs / 1000))
    const headers = { 'retry-after': retryAfter }
    throw new HttpError(429, `Too many attempts. Try again in ${retryAfter} s.`, { headers })
  }
}

/** Returns the wait after a number of failed attempts, ms. */
function doublingWait(freeAttempts: number): (count: number) => number {
  return (count) =>
    count < freeAttempts ? 0 : Math.min(waitMsMax, waitMsMin * 2 ** (count - freeAttempts))
}

/** The failed attempts by key. A count is deleted after an hour without a failed attempt. */
function createFailureCounts(clock: Clock) {
  const failures = new Map<string, FailedAttempts>()
  return { of: failuresOf, add, clear: (key: string) => void failures.delete(key) }

  function failuresOf(key: string): FailedAttempts {
    const failed = failures.get(key)
    return failed && clock() - failed.lastMs <= resetMs ? failed : { count: 0, lastMs: 0 }
  }

  /** Returns a function that reverts the addition. */
  function add(key: string): () => void {
    const previous = failuresOf(key)
    const added = { count: previous.count + 1, lastMs: clock() }
    setLast(key, added)
    return () => {
      const current = failuresOf(key)
      const lastMs = current === added ? previous.lastMs : current.lastMs
      if (current.count <= 1) failures.delete(key)
      else failures.set(key, { count: current.count - 1, lastMs })
    }
  }

  /** Above the maximum, the count with the oldest failure is deleted. */
  function setLast(key: string, failed: FailedAttempts): void {
    failures.delete(key)
    const [oldest] = failures.keys()
    if (failures.size >= countsMax && oldest !== undefined) failures.delete(oldest)
    failures.set(key, failed)
  }
}

/**
 * Limits the reads without a session, per client address. `createSignInThrottle` limits sign-in.
 *
 * @throws HttpError 429 with Retry-After.
 */
export type AnonymousLimit = (request: Pick<HttpRequest, 'method' | 'clientIp'>) => void

/** The state of the session. It costs two database reads. */
const readLimits = { sustainedPerS: 20, burst: 100 }

export function createAnonymousLimit(clock: Clock): AnonymousLimit {
  const takeRead = createAddressBuckets(readLimits, () => clock() * 1000)
  return ({ method, clientIp }) => {
    if (method !== 'GET') return
    const { isAllowed, retryAfterS } = takeRead(clientIp)
    if (isAllowed) return
    const headers = { 'retry-after': String(retryAfterS) }
    const detail = `Too many requests without a session. Try again in ${retryAfterS} s.`
    throw new HttpError(429, detail, { headers })
  }
}

/** Entries per account and hour. The audit log is permanent, so guessing must not fill it. */
const hourlyEntriesMax = 100

/** A name and password, or a code of the second factor, that were rejected. */
export type FailedSignIn = {
  readonly auditAction:
    | 'session.signInFailed'
    | 'session.changePasswordFailed'
    | 'secondFactor.passwordFailed'
  /** The account of the entry if no user has the name. */
  readonly accountId: string
  readonly user: ConsoleUser | undefined
  readonly clientIp: string
  /** The password was correct; the code of the second factor was not. */
  readonly isSecondFactor?: boolean
}

type LogOptions = { readonly store: Store; readonly clock: Clock; readonly log: Log }

export type FailedSignInLog = ReturnType<typeof createFailedSignInLog>

/**
 * Writes rejected passwords to the audit log. An entry has the user as its target and not as its
 * actor, so that the address does not become a known one. An unknown name is omitted, because people
 * also type their password into the field of the name.
 */
export function createFailedSignInLog({ store, clock, log }: LogOptions) {
  const windows = new Map<string, { startMs: number; entries: number; omitted: number }>()
  return {
    /** Adds an audit entry. Above the limit it only counts; the next entry contains the count. */
    add: async (failed: FailedSignIn): Promise<void> => {
      const { auditAction, accountId, user, clientIp, isSecondFactor } = failed
      log.info({ clientIp }, 'console sign-in failed')
      const atMs = clock()
      const account = user?.accountId ?? accountId
      const window = windows.get(account) ?? { startMs: atMs, entries: 0, omitted: 0 }
      windows.set(account, window)
      if (atMs - window.startMs >= hourMs) Object.assign(window, { startMs: atMs, entries: 0 })
      if (window.entries >= hourlyEntriesMax) {
        window.omitted++
        return
      }
      const detail = {
        ...(user && { name: user.name }),
        ...(user && user.disabledAtUtc !== null && { disabled: true }),
        ...(isSecondFactor && { secondFactor: true }),
        ...(window.omitted > 0 && { omittedBefore: window.omitted }),
      }
      window.entries++
      window.omitted = 0
      const actor = { userId: null, userName: '', ip: clientIp }
      const target = user?.userId ?? 'unknown name'
      const entry = { ...actor, accountId: account, atMs, auditAction, target }
      await store.write((tx) => addAuditEntry(tx, { ...entry, detail: JSON.stringify(detail) }))
    },
  }
}
