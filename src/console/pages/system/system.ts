import { z } from 'zod'
import { findGallerySummaries } from '../../../store/tenancy/project-summaries.ts'
import { count } from '../../server/schemas.ts'
import { defineRead, emptyQuery } from '../../server/route.ts'

/** Memory of one template: 256 values in float32 and in 8 bits (5 bytes each), and 64 bytes of references. */
const templateBytesEstimate = 256 * 5 + 64

/** One server process on a shared database. */
const server = z.object({
  host: z.string(),
  pid: z.int(),
  version: z.string(),
  startedAtUtc: z.string(),
  seenAtUtc: z.string(),
})

export const getSystem = defineRead({
  path: '/system',
  minimumRole: 'viewer',
  query: emptyQuery,
  response: z.object({
    version: z.string(),
    uptimeS: z.number(),
    ready: z.boolean(),
    reasons: z.array(z.string()),
    workers: z.record(z.string(), z.number()),
    memory: z.object({ rssBytes: count, heapBytes: count }),
    disk: z.object({
      freeBytes: count,
      totalBytes: count,
      modelsBytes: count,
    }),
    gallery: z.object({ templates: count, bytes: count }),
    store: z.object({
      kind: z.string(),
      place: z.string(),
      version: z.string(),
      bytes: count,
      servers: z.array(server),
    }),
    metricsUrl: z.string(),
    node: z.string(),
    settings: z.array(z.object({ name: z.string(), value: z.string(), isDefault: z.boolean() })),
  }),
  handle: async ({ identity, services, request }) => {
    const status = await services.readSystem()
    const { accountId } = identity
    const galleries = await services.store.read((tx) => findGallerySummaries(tx, accountId))
    const templates = galleries.reduce((sum, { templateCount }) => sum + templateCount, 0)
    const { rss, heapUsed } = process.memoryUsage()
    return {
      version: services.version,
      uptimeS: process.uptime(),
      ready: status.reasons.length === 0,
      reasons: [...status.reasons],
      workers: status.workers,
      memory: { rssBytes: rss, heapBytes: heapUsed },
      disk: status.disk,
      gallery: { templates, bytes: templates * templateBytesEstimate },
      store: { ...status.store, servers: [...status.store.servers] },
      metricsUrl: `${request.origin}/metrics`,
      node: process.version,
      settings: [...status.settings],
    }
  },
})
