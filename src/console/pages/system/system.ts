import { z } from 'zod'
import { listServers } from '../../../store/system/system-history.ts'
import { findGallerySummaries } from '../../../store/tenancy/project-summaries.ts'
import type { ConsoleServices } from '../../services.ts'
import { count } from '../../server/input.ts'
import { defineRead, defineWrite } from '../../server/console-route.ts'
import { isOfFirstAccount, requireFirstAccount } from '../../server/first-account.ts'
import { diskUsage, parseServerReport, serverReport, settingsTopic } from './server-report.ts'

/** Memory of one template: 256 values in float32 and in 8 bits (5 bytes each), and 64 bytes of references. */
const templateBytesEstimate = 256 * 5 + 64

/** A server that did not report for this long has ended without a shutdown. It reports once a minute. */
const lostMs = 180_000

/** A server of the last 24 hours. */
const server = z.object({
  server: z.string(),
  /** Whether it has sent this response. */
  isThis: z.boolean(),
  state: z.enum(['ready', 'not ready', 'stopped', 'lost']),
  pid: z.int(),
  version: z.string(),
  startedAtUtc: z.string(),
  reportedAtUtc: z.string(),
  starts: count.meta({ description: 'Starts since the first one without a pause of a day.' }),
  report: serverReport.nullable(),
})

export const getSystem = defineRead('/system', {
  response: z.object({
    version: z.string(),
    ready: z.boolean(),
    reasons: z.array(z.string()),
    workers: z.record(z.string(), z.number()),
    disk: diskUsage,
    gallery: z.object({ templates: count, bytes: count }),
    store: z.object({
      kind: z.string(),
      place: z.string(),
      version: z.string(),
      bytes: count,
    }),
    servers: z.array(server),
    metricsUrl: z.string(),
    settings: z.array(settingsTopic),
  }),
  handle: async ({ identity, services, request }) => {
    const { store, settings, ...status } = await services.readSystem()
    const isOperator = await isOfFirstAccount({ identity, services })
    const { accountId } = identity
    const galleries = await services.store.read((tx) => findGallerySummaries(tx, accountId))
    const templates = galleries.reduce((sum, { templateCount }) => sum + templateCount, 0)
    return {
      ...status,
      // The files, addresses and settings of the installation concern its operator only.
      store: isOperator ? store : { ...store, place: '' },
      settings: isOperator ? settings : [],
      version: services.version,
      ready: status.reasons.length === 0,
      gallery: { templates, bytes: templates * templateBytesEstimate },
      servers: await readServers(services),
      metricsUrl: `${request.origin}/metrics`,
    }
  },
})

/** The servers of the last 24 hours. The present state of this one, the last report of the others. */
async function readServers({
  store,
  clock,
  systemMonitor,
}: ConsoleServices): Promise<z.input<typeof server>[]> {
  const present = await systemMonitor.report()
  const nowMs = clock()
  const rows = await store.read(listServers)
  return rows.map(({ startedAtMs, reportedAtMs, stoppedAtMs, report: stored, ...row }) => {
    const isThis = row.server === systemMonitor.server
    const report = isThis ? present : parseServerReport(stored)
    const isLost = !isThis && nowMs - reportedAtMs > lostMs
    const runningState = report && report.reasons.length === 0 ? 'ready' : 'not ready'
    const endedState = stoppedAtMs === null ? 'lost' : 'stopped'
    return {
      ...row,
      isThis,
      state: stoppedAtMs !== null || isLost ? endedState : runningState,
      startedAtUtc: new Date(startedAtMs).toISOString(),
      reportedAtUtc: new Date(isThis ? nowMs : reportedAtMs).toISOString(),
      report,
    }
  })
}

/**
 * Creates a support bundle. It covers the whole installation, so that only users of its first account
 * receive it.
 */
export const downloadSupportBundle = defineWrite('/system/support-bundle', {
  auditAction: 'system.supportBundle',
  response: z.record(z.string(), z.unknown()),
  prepare: async (call) => {
    await requireFirstAccount(call, 'receive a support bundle')
    return call.services.createSupportBundle()
  },
  handle: async ({ services, prepared: response }) => {
    const headers = { 'content-disposition': 'attachment; filename="facegate-support.json"' }
    return { response: { ...response }, target: services.version, headers }
  },
})
