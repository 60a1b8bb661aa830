import { z } from 'zod'
import { listSamples, systemHistoryMs } from '../../../store/system/system-history.ts'
import type { SystemSampleRow } from '../../../store/system-schema.ts'
import { count } from '../../server/input.ts'
import { defineRead } from '../../server/console-route.ts'

const bucketMs = 300_000

/** One value per bucket; null without a sample. */
const values = z.array(z.number().nullable())

/** The last 24 hours of every server, in buckets of five minutes. */
export const getSystemHistory = defineRead('/system/history', {
  response: z.object({
    buckets: z.array(z.string()).meta({ description: 'The start of each bucket, UTC.' }),
    servers: z.array(
      z.object({
        server: z.string(),
        memoryBytes: values.meta({ description: 'The most memory of the server process.' }),
        workerBytes: values.meta({ description: 'The most memory of its vision workers.' }),
        queued: values.meta({ description: 'The longest queue of images.' }),
        p50Ms: values.meta({ description: 'The highest median latency of a minute.' }),
        p95Ms: values.meta({ description: 'The highest 95th percentile of a minute.' }),
        calls: z.array(count),
      }),
    ),
  }),
  handle: async ({ services: { store, clock } }) => {
    const endBucket = Math.floor(clock() / bucketMs)
    const firstBucket = endBucket - systemHistoryMs / bucketMs + 1
    const samples = await store.read((tx) => listSamples(tx, firstBucket * bucketMs))
    const buckets = Array.from({ length: endBucket - firstBucket + 1 }, (_, index) => index)
    const utcOf = (index: number) => new Date((firstBucket + index) * bucketMs).toISOString()
    const names = [...new Set(samples.map(({ server }) => server))]
    return {
      buckets: buckets.map(utcOf),
      servers: names.map((name) => {
        const own = samples.filter(({ server }) => server === name)
        const byBucket = Map.groupBy(own, ({ atMs }) => Math.floor(atMs / bucketMs) - firstBucket)
        return { server: name, ...seriesOf(buckets.map((index) => byBucket.get(index) ?? [])) }
      }),
    }
  },
})

function seriesOf(buckets: readonly (readonly SystemSampleRow[])[]) {
  const highest = (name: 'rssBytes' | 'workerBytes' | 'queuedMax' | 'p50Ms' | 'p95Ms') =>
    buckets.map((rows) => {
      const numbers = rows.flatMap((row) => row[name] ?? [])
      return numbers.length === 0 ? null : Math.max(...numbers)
    })
  return {
    memoryBytes: highest('rssBytes'),
    workerBytes: highest('workerBytes'),
    queued: highest('queuedMax'),
    p50Ms: highest('p50Ms'),
    p95Ms: highest('p95Ms'),
    calls: buckets.map((rows) => rows.reduce((sum, { calls }) => sum + calls, 0)),
  }
}
