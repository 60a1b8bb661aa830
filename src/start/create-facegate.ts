import { statfsSync } from 'node:fs'
import path from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { allActions } from '../actions/all-actions.ts'
import { comprefaceRoutes } from '../compreface/compreface-routes.ts'
import type { Config } from '../config.ts'
import { createSetupLink, setupLinkPath } from '../console/auth/setup.ts'
import { createCalibrations } from '../gallery/calibration/calibrations.ts'
import { isMasterKeyReadable } from '../gallery/keys/master-key-file.ts'
import type { ReEmbedVisionClient } from '../gallery/re-embed/re-embed.ts'
import { createConnectionStats } from '../http/connections/connection-stats.ts'
import { type ExecuteOptions, execute } from '../http/execute.ts'
import { createBodyBudget } from '../http/input/incoming-body.ts'
import type { Route } from '../http/route.ts'
import { type ModelInUse, type RestOptions, serveRest } from '../http/routes/rest-route.ts'
import { restRoutes } from '../http/routes/rest-routes.ts'
import { serviceRoutes } from '../http/routes/service-routes.ts'
import { serveSessionFrames } from '../http/routes/session-frames.ts'
import { createHttpServer } from '../http/server.ts'
import { serveStaticFiles } from '../http/static-files.ts'
import { runAsAllAccounts } from '../lib/account-context.ts'
import type { Clock } from '../lib/clock.ts'
import type { Log } from '../lib/log.ts'
import { describeError } from '../lib/observability/describe-error.ts'
import type { RecentProblems } from '../lib/observability/recent-problems.ts'
import type { PrepareProgress } from '../models/builtin/prepare-builtin-pack.ts'
import { listModels } from '../models/installed-packs.ts'
import { detectorKindOf } from '../models/model-set.ts'
import type { Store } from '../store/database.ts'
import { runSelfTest } from '../vision/self-test/self-test.ts'
import {
  type VisionPool,
  type VisionPoolStats,
  openVisionPool,
} from '../vision/workers/vision-pool.ts'
import { type ActiveModels, readActiveModels } from './active-models.ts'
import { createConsoleRoutes } from './console-services.ts'
import { apiDescription, bodyBudgetLimits, bodyLimits, serverLimits } from './http-limits.ts'
import { type Observability, openObservability } from './observability.ts'
import { type OpenedDatabase, openDatabase } from './open-database.ts'
import { openGalleryServices } from './open-gallery.ts'
import { masterKeyPath } from './store-location.ts'
import {
  type SystemMonitor,
  type SystemMonitorSources,
  openSystemMonitor,
} from './system/system-monitor.ts'
import { type VisionEnvironment, visionOptions } from './vision-options.ts'
import { openWebhooks } from './webhooks/open-webhooks.ts'

export type FacegateOptions = {
  readonly version: string
  readonly clock: Clock
  readonly log: Log
  /** The warnings and errors of the log. */
  readonly recentProblems: RecentProblems
  readonly onProgress: (progress: PrepareProgress) => void
}

/** The whole service, started but not yet listening. */
export type Facegate = Awaited<ReturnType<typeof createFacegate>>

/** The built files of the console. */
const webFolder = path.join(import.meta.dirname, '../../web/dist')

/** Creates the service. Each part needs only the parts before it. */
export async function createFacegate(config: Config, options: FacegateOptions) {
  const { version, log } = options
  const database = await openDatabase(config, options)
  const { store, gate, clock } = database

  const models = await readActiveModels(config, options)
  const vision = await openVision(config, { ...models, clock, log })

  const calibrations = createCalibrations(models.calibration, models.formerCalibrations)
  const galleryOptions = { store, calibrations, vision: toReEmbedClient(vision), clock, log }
  const gallerySearch = await openGalleryServices(config, galleryOptions)
  const { subjects, matching, maintenance, visitors, livenessSessions } = gallerySearch
  const openedWebhooks = openWebhooks(config, { store, clock, log })
  const gallery = { subjects, matching, maintenance, visitors, livenessSessions }
  const services = { ...gallery, vision, extraImageTypes: config.IMAGE_TYPES_EXTRA }

  const { notReady, announceShutdown } = createReadiness(config, store, vision)
  const actions = new Map(allActions.map((action) => [action.name as string, action]))
  const bodyBudget = createBodyBudget(bodyBudgetLimits(config))
  const connectionStats = createConnectionStats()
  const workers = () => toWorkerStats(vision.stats())
  const parts = { version, store, gate, clock, vision, bodyBudget, connectionStats, notReady, log }
  const sources = { ...parts, gallerySearch, openedWebhooks }
  const observability = await openObservability({ ...sources, config, actions })
  const systemMonitor = await startMonitor(config, { ...options, ...parts })
  const onCallCompleted = measureCalls(observability, systemMonitor)

  const executeOptions = { gate, services, actions, ...bodyLimits(config), log, onCallCompleted }
  const consoleOptions = { ...parts, ...models, ...gallery, workers, systemMonitor }
  const server = createHttpServer({
    routes: [
      ...(await apiRoutes(config, executeOptions, models)),
      ...serviceRoutes({ ...parts, ...observability, ...apiDescription(config) }),
      ...createConsoleRoutes(config, { ...consoleOptions, ...openedWebhooks, executeOptions }),
    ],
    fallback: serveStaticFiles(webFolder),
    ...serverLimits(config),
    bodyBudget,
    connectionStats,
    log,
    observer: observability.server,
  })
  return {
    server,
    /** Call it once the server listens. Returns the first API key, or undefined at later starts. */
    createFirstKey: database.createFirstKey,
    /** Creates the one-time link with which an owner of the console sets a password. */
    createOwnerLink: () => createOwnerLink(database),
    vision,
    /**
     * Reports for `SHUTDOWN_DELAY_MS` that the server is not ready, while it still accepts calls.
     * Then waits for running calls, stops the workers and closes the database.
     */
    close: async () => {
      await announceShutdown()
      for (const part of [server, observability, vision]) await part.close()
      await disposeInOrder(systemMonitor, openedWebhooks, gallerySearch, database)
    },
  }
}

async function startMonitor(config: Config, sources: SystemMonitorSources): Promise<SystemMonitor> {
  const monitor = openSystemMonitor(config, sources)
  await monitor.start()
  return monitor
}

/** Reports each call to the metrics and to the history of the server. */
function measureCalls(
  observability: Observability,
  systemMonitor: SystemMonitor,
): Observability['onCallCompleted'] {
  return (envelope, durationMs, decision) => {
    systemMonitor.recordCall(durationMs)
    observability.onCallCompleted(envelope, durationMs, decision)
  }
}

async function disposeInOrder(...parts: readonly AsyncDisposable[]): Promise<void> {
  for (const part of parts) await part[Symbol.asyncDispose]()
}

async function createOwnerLink({ store, clock }: OpenedDatabase): Promise<string> {
  const create = () => store.write((tx) => createSetupLink(tx, null, clock()))
  return setupLinkPath(await runAsAllAccounts(create))
}

/** Only the workers decode images: this process loads the decoder for a setting that names types. */
async function requireExtraDecoders({ IMAGE_TYPES_EXTRA }: Config): Promise<void> {
  if (IMAGE_TYPES_EXTRA.length === 0) return
  const { requireDecoders } = await import('../vision/image/extra-types.ts')
  requireDecoders(IMAGE_TYPES_EXTRA)
}

/** Starts the vision workers. Throws when the models fail their self-test. */
async function openVision(config: Config, environment: VisionEnvironment): Promise<VisionPool> {
  await requireExtraDecoders(config)
  const vision = openVisionPool(visionOptions(config, environment))
  await Promise.all([vision.ready(), runSelfTest(environment)])
  return vision
}

/** Stored crops are re-embedded only while no call waits for a worker. */
function toReEmbedClient(vision: VisionPool): ReEmbedVisionClient {
  return {
    analyzeImage: (...call) => vision.analyzeImage(...call),
    isIdle: () => vision.stats().queued === 0,
  }
}

/** The models that analyze new images. */
async function listModelsInUse({ modelsFolder, modelSet }: ActiveModels): Promise<ModelInUse[]> {
  const listed = await listModels(modelsFolder, modelSet)
  return listed.flatMap(({ model, version, roles, use }) =>
    use === 'active' ? [{ model, version, roles }] : [],
  )
}

/** The routes that require an API key. */
async function apiRoutes(
  config: Config,
  options: ExecuteOptions & RestOptions,
  activeModels: ActiveModels,
): Promise<Route[]> {
  const detectorKind = detectorKindOf(activeModels.modelSet)
  const models = await listModelsInUse(activeModels)
  return [
    { method: 'POST', path: '/v1/face/execute', handle: (request) => execute(request, options) },
    serveSessionFrames(options),
    ...restRoutes.map((route) => serveRest(route, { ...options, models })),
    ...(config.COMPREFACE_API === 'on' ? comprefaceRoutes({ ...options, detectorKind }) : []),
  ]
}

/** The pool statistics under the names of the console's API. */
function toWorkerStats({ workersUp: up, workersBusy: busy, ...rest }: VisionPoolStats) {
  return { up, busy, ...rest }
}

const freeBytesMin = 1024 ** 3

const shutdownReason = 'the server is shutting down'

/** Whether the server is ready for calls: `/readyz`, the metrics and the console report it. */
function createReadiness(config: Config, store: Store, vision: VisionPool) {
  let isShuttingDown = false
  return {
    /** Returns the reasons why calls cannot be served now, one sentence each. */
    notReady: async () => (isShuttingDown ? [shutdownReason] : findReasons(store, vision, config)),
    /** Reports not ready from now on, and resolves after `SHUTDOWN_DELAY_MS`. */
    announceShutdown: async (): Promise<void> => {
      isShuttingDown = true
      await sleep(config.SHUTDOWN_DELAY_MS)
    },
  }
}

async function findReasons(store: Store, vision: VisionPool, config: Config): Promise<string[]> {
  const reasons: string[] = []
  if (!vision.isReady()) reasons.push('no vision worker is running')
  const accounts = store.db
    .selectFrom('accounts')
    .select((on) => [
      'accountId',
      on.selectFrom('masterKeys').select('masterKeyId').as('masterKeyId'),
    ])
    .limit(1)
  const rows = await runAsAllAccounts(() => accounts.execute()).catch(describeError)
  if (typeof rows === 'string') reasons.push(rows.replace(/\.$/u, ''))
  else if (rows.length === 0) reasons.push('the database has no account')
  const masterKeyId = typeof rows === 'string' ? undefined : rows[0]?.masterKeyId
  if (!isMasterKeyReadable(masterKeyPath(config), masterKeyId ?? undefined))
    reasons.push('the master key cannot be read, or its file lacks the current key of the database')
  if (!store.isShared && freeBytes(config.DATA_DIR) < freeBytesMin)
    reasons.push('less than 1 GiB of disk is free')
  return reasons
}

/** Returns the free bytes of the disk of a folder for this user. @throws Error if there is none. */
export function freeBytes(folder: string): number {
  const { bavail, bsize } = statfsSync(folder)
  return bavail * bsize
}
