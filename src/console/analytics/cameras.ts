import { z } from 'zod'
import { formatUtc, hourMs, weekMs } from '../../lib/clock.ts'
import { mapValues } from '../../lib/map-values.ts'
import {
  allCameraMeasures,
  cameraMeasures,
  changesOfLastWeek,
  describeCameraChange,
  measureValue,
} from '../../lib/observability/camera-changes.ts'
import { readKeyWeeks } from '../../store/console/key-weeks.ts'
import { keyNames } from '../../store/tenancy/key-list.ts'
import { defineRead } from '../server/console-route.ts'
import { count, id } from '../server/input.ts'
import texts from '../field-texts.json' with { type: 'json' }

const weeksShown = 8
const keysMax = 200

const measure = z.enum(allCameraMeasures)

const values = z.array(z.number().nullable()).describe(texts.cameras.values)

/** What the calls of each key decided, week by week, and what became worse in the last week. */
export const camerasChart = defineRead('/analytics/cameras', {
  isLong: true,
  query: z.strictObject({ projectId: id.optional(), keyId: id.optional() }),
  response: z.object({
    weeks: z.array(z.string()).describe(texts.cameras.weeks),
    measures: z.array(z.object({ measure, name: z.string(), kind: z.enum(['share', 'mean']) })),
    keyCount: count.meta({
      description: `The keys with calls; \`keys\` has at most ${keysMax}, those with changes first.`,
    }),
    keys: z.array(
      z.object({
        keyId: z.string(),
        name: z.string(),
        calls: z.array(count),
        values: z.record(measure, values),
        changes: z.array(z.object({ measure, text: z.string() })),
      }),
    ),
  }),
  handle: async ({ query, identity, services: { store, clock } }) => {
    const toMs = Math.ceil((clock() + 1) / hourMs) * hourMs
    const filter = { ...query, accountId: identity.accountId, toMs, weeks: weeksShown }
    const weeksByKey = await readKeyWeeks(store, filter)
    const names = await store.read((tx) => keyNames(tx, identity.accountId))
    const keys = [...weeksByKey]
      .map(([keyId, weeks]) => ({
        keyId,
        weeks,
        name: names.get(keyId) ?? keyId,
        calls: weeks.map(({ withoutFace, decided }) => withoutFace + decided),
        changes: changesOfLastWeek(weeks),
      }))
      .filter(({ calls }) => calls.some((count) => count > 0))
      .sort((a, b) => b.changes.length - a.changes.length || (a.name < b.name ? -1 : 1))
    return {
      weeks: Array.from({ length: weeksShown }, (_, index) =>
        formatUtc(toMs - (weeksShown - index) * weekMs),
      ),
      measures: allCameraMeasures.map((name) => {
        const { name: title, kind } = cameraMeasures[name]
        return { measure: name, name: title, kind }
      }),
      keyCount: keys.length,
      keys: keys.slice(0, keysMax).map(({ weeks, changes, ...key }) => ({
        ...key,
        values: mapValues(cameraMeasures, (_measure, name) =>
          weeks.map((week) => measureValue(name, week) ?? null),
        ),
        changes: changes.map((change) => ({
          measure: change.measure,
          text: describeCameraChange(change),
        })),
      })),
    }
  },
})
