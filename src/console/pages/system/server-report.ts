import { z } from 'zod'
import { count } from '../../server/input.ts'

/** The health of one vision worker. */
const worker = z.object({
  pid: z.int().nullable(),
  state: z.enum(['ready', 'busy', 'starting', 'lost']),
  startedAtMs: z.number().nullable(),
  jobs: count,
  rssBytes: count.nullable(),
  restarts: count,
  lastReason: z.string().nullable(),
})

const problem = z.object({
  time: z.string(),
  level: z.string(),
  message: z.string(),
  values: z.record(z.string(), z.union([z.number(), z.boolean()])),
  error: z
    .object({ type: z.string(), code: z.string().optional(), frames: z.array(z.string()) })
    .optional(),
})

/** What a server stores about itself once a minute, so that every server can show it. */
export const serverReport = z.object({
  uptimeS: z.number(),
  /** Why the server cannot serve calls; empty if it is ready. */
  reasons: z.array(z.string()),
  memory: z.object({ rssBytes: count, heapBytes: count }),
  workers: z.array(worker),
  queue: z.object({ images: count, bytes: count }),
  database: z.object({
    /** The time of a simple query; null if the database does not respond. */
    responseMs: z.number().nullable(),
    /** Connections of the pool; null for an embedded database. */
    connections: z.object({ busy: count, idle: count, waiting: count }).nullable(),
  }),
  /** Versions of the runtime by name. */
  runtime: z.record(z.string(), z.string()),
  /** Recent warnings and errors of its log, the oldest first. */
  problems: z.array(problem),
})

export type ServerReport = z.infer<typeof serverReport>

/** Returns a stored report, or null if a server of another version wrote it. */
export function parseServerReport(text: string): ServerReport | null {
  return serverReport.safeParse(JSON.parse(text)).data ?? null
}

/** The parts of responses that the server reports about itself. Their types are those of its reports. */

export const diskUsage = z.object({ freeBytes: count, totalBytes: count, modelsBytes: count })

export type DiskUsage = z.output<typeof diskUsage>

/** The settings of one topic of docs/configuration.md. */
export const settingsTopic = z.object({
  topic: z.string(),
  settings: z.array(
    z.object({
      name: z.string(),
      value: z.string().meta({ description: 'Of a secret only `set` or `not set`.' }),
      isDefault: z.boolean(),
      meaning: z.string(),
      range: z.string().meta({ description: 'The permitted values, as plain text.' }),
    }),
  ),
})

export type SettingsTopic = z.output<typeof settingsTopic>
