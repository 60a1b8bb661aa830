import { z } from 'zod'
import { findGallerySummaries } from '../../store/tenancy/project-summaries.ts'
import { count } from '../server/schemas.ts'
import { defineRead, noQuery } from '../server/route.ts'

/** A template in memory: 256 numbers of 4 bytes, the same in 8 bits, and where it belongs. */
const templateBytesEstimate = 256 * 5 + 64

/** One of several on one database; nobody else's rows are in it. */
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
  query: noQuery,
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
  handle: async ({ identity: visitor, services, request }) => {
    const facts = await services.readSystem()
    const { accountId } = visitor
    const galleries = await services.store.read((reading) =>
      findGallerySummaries(reading, accountId),
    )
    const templates = galleries.reduce((sum, { templateCount }) => sum + templateCount, 0)
    const { rss, heapUsed } = process.memoryUsage()
    return {
      version: services.version,
      uptimeS: process.uptime(),
      ready: facts.reasons.length === 0,
      reasons: [...facts.reasons],
      workers: facts.workers,
      memory: { rssBytes: rss, heapBytes: heapUsed },
      disk: facts.disk,
      gallery: { templates, bytes: templates * templateBytesEstimate },
      store: { ...facts.store, servers: [...facts.store.servers] },
      metricsUrl: `${request.origin}/metrics`,
      node: process.version,
      settings: [...facts.settings],
    }
  },
})
