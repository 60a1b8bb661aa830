import { hourMs, type Clock } from '../../lib/clock.ts'
import type { Log } from '../../lib/log.ts'
import { addAuditEntry } from '../../store/console/audit-log.ts'
import type { ConsoleUser } from '../../store/console/users.ts'
import type { Store } from '../../store/database.ts'

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

export type FailedSignInLog = {
  /** Adds an audit entry. Above the limit it only counts; the next entry contains the count. */
  readonly add: (failed: FailedSignIn) => Promise<void>
}

type LogOptions = { readonly store: Store; readonly clock: Clock; readonly log: Log }

/**
 * Writes rejected passwords to the audit log. An entry has the user as its target and not as its
 * actor, so that the address does not become a known one. An unknown name is omitted, because people
 * also type their password into the field of the name.
 */
export function createFailedSignInLog({ store, clock, log }: LogOptions): FailedSignInLog {
  const windows = new Map<string, { startMs: number; entries: number; omitted: number }>()
  return {
    add: async ({ auditAction, accountId, user, clientIp, isSecondFactor }) => {
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
