import { z } from 'zod'
import { sumKeyUsage } from '../../../store/console/key-usage.ts'
import { hourMs } from '../../../lib/clock.ts'
import { hourStartMs } from '../../../store/gate/hourly-counts.ts'
import { defineRead } from '../../server/console-route.ts'
import { count, id, micros } from '../../server/input.ts'

/** The keys of a request: at least one page of the list. */
const keysMax = 100

const usage = z.object({
  calls: count,
  failed: count,
  costMicros: micros,
  meteredMicros: micros.meta({ description: 'The price of calls without a charge.' }),
})

const dayHours = 24
const monthHours = 30 * dayHours

/** Returns the calls of keys in the current hour and the hours before it, from hourly counts. */
export const getKeyUsage = defineRead('/key-usage', {
  isLong: true,
  query: z.strictObject({
    keyIds: z
      .string()
      .transform((text) => text.split(','))
      .pipe(z.array(id).max(keysMax))
      .meta({ description: `At most ${keysMax} ids, separated by commas.` }),
  }),
  response: z.object({
    dayFromUtc: z.string().meta({ description: 'The start of the current hour, and 23 hours.' }),
    monthFromUtc: z.string().meta({ description: 'The start of the current hour, and 719 hours.' }),
    items: z.array(z.object({ keyId: z.string(), day: usage, month: usage })),
  }),
  handle: async ({ query, identity, services: { store, clock } }) => {
    const currentHourMs = hourStartMs(clock())
    const recentFromMs = currentHourMs - (dayHours - 1) * hourMs
    const fromMs = currentHourMs - (monthHours - 1) * hourMs
    const { accountId } = identity
    const filter = { accountId, keyIds: query.keyIds, fromMs, recentFromMs }
    const rows = await sumKeyUsage(store, filter)
    return {
      dayFromUtc: new Date(recentFromMs).toISOString(),
      monthFromUtc: new Date(fromMs).toISOString(),
      items: rows.map((row) => ({
        keyId: row.keyId,
        day: {
          calls: row.recentCalls,
          failed: row.recentFailed,
          costMicros: String(row.recentCostMicros),
          meteredMicros: String(row.recentMeteredMicros),
        },
        month: {
          calls: row.calls,
          failed: row.failed,
          costMicros: String(row.costMicros),
          meteredMicros: String(row.meteredMicros),
        },
      })),
    }
  },
})
