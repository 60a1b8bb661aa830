import { dayMs, formatUtc } from '../lib/clock.ts'
import type { Store, Tx } from '../store/database.ts'
import { addEvent } from '../store/webhooks/events.ts'
import {
  findExpiringKeys,
  recordExpiryNotice,
  type ExpiringKey,
} from '../store/webhooks/expiring-keys.ts'

/** `key.expiring` is sent this many days before the expiry of a key. */
const noticeDays = [1, 14] as const

/** The most keys per run and notice. */
const keysMax = 200

export type NoticeOptions = {
  readonly store: Store
  readonly nowMs: number
  readonly outboxMax: number
}

/** Stores the events of keys that expire soon, each once. A key with a shorter life gets no notice. */
export async function addExpiryNotices({ store, nowMs, outboxMax }: NoticeOptions): Promise<void> {
  for (const days of noticeDays) {
    const filter = {
      nowUtc: formatUtc(nowMs),
      untilUtc: formatUtc(nowMs + days * dayMs),
      noticeDays: days,
      limit: keysMax,
    }
    const keys = await store.read((tx) => findExpiringKeys(tx, filter))
    for (const key of keys)
      await store.write((tx) => addExpiryNotice(tx, key, { days, nowMs, outboxMax }))
  }
}

async function addExpiryNotice(
  tx: Tx,
  key: ExpiringKey,
  { days, nowMs, outboxMax }: { days: number; nowMs: number; outboxMax: number },
): Promise<void> {
  if (!(await recordExpiryNotice(tx, key, days))) return
  const { keyId, projectId, name, prefix, last4, createdAtUtc, expiresAtUtc } = key
  if (expiresAtUtc === null) return
  const lifetimeMs = Date.parse(expiresAtUtc) - Date.parse(createdAtUtc)
  if (lifetimeMs <= days * dayMs) return
  const data = { keyId, name, prefix, last4, expiresAtUtc, days }
  await addEvent(tx, { projectId, type: 'key.expiring', data, atMs: nowMs }, { outboxMax })
}
