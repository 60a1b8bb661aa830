import { dayMs, formatUtc, hourMs, weekMs } from '../lib/clock.ts'
import {
  changesOfLastWeek,
  describeCameraChange,
  weeksBefore,
} from '../lib/observability/camera-changes.ts'
import { readKeyWeeks } from '../store/console/key-weeks.ts'
import type { Store, Tx } from '../store/database.ts'
import { findUsedKeys, recordCameraChanges } from '../store/webhooks/camera-changes.ts'
import { addEvent } from '../store/webhooks/events.ts'
import {
  type ExpiringKey,
  findExpiringKeys,
  recordExpiryNotice,
} from '../store/webhooks/expiring-keys.ts'

/** `key.expiring` is sent this many days before the expiry of a key. */
const noticeDays = [1, 14] as const

/** The most keys per run and notice. */
const keysMax = 200

type NoticeOptions = {
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

/**
 * Compares the last week of each key with the weeks before it. Changes are stored at the key and sent
 * as `camera.changed`, for a key at most once in a week. Each key is read on its own, so that no
 * read takes long.
 */
export async function addCameraNotices({ store, nowMs, outboxMax }: NoticeOptions): Promise<void> {
  const reportedBeforeMs = nowMs - weekMs
  const usedSinceUtc = formatUtc(reportedBeforeMs)
  const keys = await store.read((tx) => findUsedKeys(tx, { usedSinceUtc, reportedBeforeMs }))
  const toMs = Math.ceil((nowMs + 1) / hourMs) * hourMs
  for (const { accountId, projectId, ...key } of keys) {
    const filter = { accountId, projectId, keyId: key.keyId, toMs, weeks: weeksBefore + 1 }
    const weeks = (await readKeyWeeks(store, filter)).get(key.keyId)
    if (!weeks) continue
    const changes = changesOfLastWeek(weeks)
    if (changes.length === 0) continue
    const report = { keyId: key.keyId, cameraChangesAtMs: nowMs, changes, reportedBeforeMs }
    const texts = changes.map((change) => ({ ...change, text: describeCameraChange(change) }))
    const event = { projectId, type: 'camera.changed', atMs: nowMs } as const
    await store.write(async (tx) => {
      if (!(await recordCameraChanges(tx, report))) return
      await addEvent(tx, { ...event, data: { ...key, changes: texts } }, { outboxMax })
    })
  }
}
