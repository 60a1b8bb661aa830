import { runAsAllAccounts } from '../../../src/lib/account-context.ts'
import {
  createLatencyHistogram,
  packLatencies,
} from '../../../src/lib/observability/latency-histogram.ts'
import { addCameraNotices } from '../../../src/webhooks/key-notices.ts'
import type { TestConsole } from './test-console.ts'

const hourMs = 3_600_000
const weekMs = 7 * 24 * hourMs
const weeks = 4
const callsPerWeek = 400

/**
 * Adds the hourly counts of a key whose camera lost its view in the last days: faces and quality of four
 * weeks, and of a week in which a fifth of the pictures contains no face.
 *
 * @returns the name of the key.
 */
export async function addWorseCamera({ gallery, projectId }: TestConsole): Promise<string> {
  const { store } = gallery.database
  const key = await store.db
    .selectFrom('keys')
    .select(['keyId', 'name'])
    .where('projectId', '=', projectId)
    .where('lastUsedAtUtc', 'is not', null)
    .where('isHidden', '=', 0)
    .executeTakeFirstOrThrow()
  const nowMs = Date.now()
  const currentHourMs = Math.floor(nowMs / hourMs) * hourMs
  for (let week = 0; week <= weeks; week++) {
    const isWorse = week === 0
    const blank = callsPerWeek / (isWorse ? 5 : 50)
    const matched = callsPerWeek - blank
    const hour = {
      projectId,
      keyId: key.keyId,
      action: 'svc.identify',
      billed: 0,
      costMicros: 0n,
      hourMs: currentHourMs - week * weekMs - 2 * hourMs,
      latencies: packLatencies(createLatencyHistogram()),
    }
    const scores = {
      similaritySum: matched * 9320,
      rated: matched,
      qualitySum: matched * (isWorse ? 58 : 81),
    }
    const insert = store.db.insertInto('callHours')
    await insert.values({ ...hour, code: 'NO_FACE_FOUND', calls: blank }).execute()
    await insert
      .values({ ...hour, ...scores, code: 'OK', outcome: 'match', calls: matched })
      .execute()
  }
  await runAsAllAccounts(() => addCameraNotices({ store, nowMs, outboxMax: 100 }))
  return key.name
}
