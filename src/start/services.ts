import { statfsSync } from 'node:fs'
import path from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { allActions } from '../actions/all-actions.ts'
import { comprefaceRoutes } from '../compreface/compreface-routes.ts'
import type { Config } from '../config.ts'
import { openDatabase, type OpenedDatabase } from './open-database.ts'
import { setupLinkPath, createSetupLink } from '../console/auth/setup.ts'
import { createConsoleRoutes } from './console-services.ts'
import { createCalibrations } from '../gallery/calibration/calibrations.ts'
import type { ReEmbedVisionClient } from '../gallery/re-embed/re-embed.ts'
import type { Route } from '../http/route.ts'
import { execute, type ExecuteOptions } from '../http/execute.ts'
import { serveStaticFiles } from '../http/static-files.ts'
import { restRoutes } from '../http/routes/rest-routes.ts'
import { serveRest } from '../http/routes/rest-route.ts'
import { serviceRoutes } from '../http/routes/service-routes.ts'
import { createHttpServer, type HttpServer } from '../http/server.ts'
import { runAsAllAccounts } from '../lib/account-context.ts'
import type { Clock } from '../lib/clock.ts'
import type { Log } from '../lib/log.ts'
import { openGalleryServices } from './open-gallery.ts'
import { readActiveModels } from './active-models.ts'
import type { PrepareProgress } from '../models/builtin/prepare-builtin-pack.ts'
import type { Store } from '../store/database.ts'
import { runSelfTest } from '../vision/self-test/run-self-test.ts'
import {
  openVisionPool,
  type VisionPoolOptions,
  type VisionPoolStats,
  type VisionPool,
} from '../vision/workers/vision-pool.ts'
import { openObservability } from './observability.ts'

export type FacegateOptions = {
  readonly version: string
  readonly clock: Clock
  readonly log: Log
  readonly onProgress: (progress: PrepareProgress) => void
}

/** The whole service, put together and warm, but not listening yet. */
export type Facegate = {
  readonly server: HttpServer
  /** To be called when it listens. @returns the first key; undefined at every later start. */
  readonly createFirstKey: OpenedDatabase['createFirstKey']
  /** Makes the one-time link by which the console's first owner, or a new one, sets a password. */
  readonly createOwnerLink: () => Promise<string>
  readonly vision: VisionPool
  /**
   * Says for `SHUTDOWN_DELAY_MS` that it is not ready any more and goes on meanwhile; then lets running calls
   * finish, ends the workers and closes the database.
   */
  readonly close: () => Promise<void>
}

const freeBytesMin = 1024 ** 3

/** The build of the console. */
const webFolder = path.join(import.meta.dirname, '../../web/dist')

/** Puts the service together, in the order in which its parts need each other. */
export async function createFacegate(
  config: Config,
  surroundings: FacegateOptions,
): Promise<Facegate> {
  const { version, log, onProgress } = surroundings
  const books = await openDatabase(config, surroundings)
  const { gate, createFirstKey: begin, store, clock } = books
  const inUse = await readActiveModels(config, { log, onProgress })
  const vision = openVisionPool(visionOptions(config, { ...inUse, clock, log }))
  await Promise.all([vision.ready(), runSelfTest(inUse.modelsFolder, inUse.modelSet)])

  const calibrations = createCalibrations(inUse.calibration, inUse.formerCalibrations)
  const galleryOptions = { store, calibrations, vision: toVisionClient(vision), clock, log }
  const gallerySearch = await openGalleryServices(config, galleryOptions)
  const services = { vision, gallery: gallerySearch.gallery }

  const state = createReadiness(config, store, vision)
  const actions = new Map(allActions.map((action) => [action.name as string, action]))
  const parts = { version, config, store, gate, vision, gallerySearch, actions, log }
  const watching = await openObservability({ ...parts, ...state })
  const executeOptions = {
    gate,
    services,
    actions,
    ...readLimits(config),
    log,
    onCallCompleted: watching.onCallCompleted,
  }
  const consoleOptions = {
    ...surroundings,
    clock,
    ...inUse,
    ...services,
    ...state,
    store,
    gate,
    executeOptions,
  }
  const server = createHttpServer({
    routes: [
      ...apiRoutes(config, executeOptions),
      ...serviceRoutes({ version, metrics: watching.metrics, limits: apiLimits(config), ...state }),
      ...createConsoleRoutes(config, consoleOptions),
    ],
    fallback: serveStaticFiles(webFolder),
    ...serverLimits(config),
    log,
    watch: watching.server,
  })
  return {
    server,
    createFirstKey: begin,
    createOwnerLink: async () =>
      setupLinkPath(
        await runAsAllAccounts(() => store.write((tx) => createSetupLink(tx, null, clock()))),
      ),
    vision,
    close: async () => {
      await state.leave()
      for (const part of [server, watching, vision]) await part.close()
      for (const part of [gallerySearch, books]) await part[Symbol.asyncDispose]()
    },
  }
}

function createReadiness(config: Config, store: Store, vision: VisionPool) {
  let isLeaving = false
  return {
    notReady: async () =>
      isLeaving ? [shutdownReason] : unreadyReasons(store, vision, config.DATA_DIR),
    workers: () => toWorkerStats(vision.stats()),
    /** From now on it is not ready; resolves when whoever asks has had the time to see that. */
    leave: async () => {
      isLeaving = true
      await sleep(config.SHUTDOWN_DELAY_MS)
    },
  }
}

/** The routes behind a key. */
function apiRoutes(config: Config, executing: ExecuteOptions): Route[] {
  return [
    { method: 'POST', path: '/v1/face/execute', handle: (asked) => execute(asked, executing) },
    ...restRoutes.map((route) => serveRest(route, executing)),
    ...(config.COMPREFACE_API === 'on' ? comprefaceRoutes(executing) : []),
  ]
}

/** Calls go first: crops are looked at while nothing waits. */
function toVisionClient(vision: VisionPool): ReEmbedVisionClient {
  return {
    analyzeImage: (...asked) => vision.analyzeImage(...asked),
    isIdle: () => vision.stats().queued === 0,
  }
}

/** What callers must know of the configuration, in words that say their unit. */
function apiLimits(config: Config) {
  return {
    bodyBytesMax: config.BODY_BYTES_MAX,
    imageBytesMax: config.IMAGE_BYTES_MAX,
    imagePixelsMax: config.IMAGE_PIXELS_MAX,
    imageSideMinPx: config.IMAGE_SIDE_MIN_PX,
    jsonDepthMax: config.JSON_DEPTH_MAX,
    jsonTokensMax: config.JSON_TOKENS_MAX,
    rateSustainedPerS: config.RATE_SUSTAINED_PER_S,
    rateBurst: config.RATE_BURST,
    replayWindowMs: config.REPLAY_WINDOW_MS,
    subjectTemplatesMax: config.SUBJECT_TEMPLATES_MAX,
    galleryTemplatesMax: config.GALLERY_TEMPLATES_MAX,
  }
}

function readLimits(config: Config) {
  return {
    bodyBytesMax: config.BODY_BYTES_MAX,
    jsonLimits: { depthMax: config.JSON_DEPTH_MAX, tokensMax: config.JSON_TOKENS_MAX },
  }
}

function toWorkerStats({ workersUp: up, workersBusy: busy, ...rest }: VisionPoolStats) {
  return { up, busy, ...rest }
}

function serverLimits(config: Config) {
  return {
    proxies: config.TRUST_PROXY,
    headersMsMax: config.HEADERS_TIMEOUT_MS,
    requestMsMax: config.REQUEST_TIMEOUT_MS,
    connectionsMax: config.CONNECTIONS_MAX,
    drainMsMax: config.DRAIN_TIMEOUT_MS,
  }
}

/** The part of the configuration that the vision workers live by. */
export function visionOptions(
  config: Config,
  given: Pick<VisionPoolOptions, 'modelsFolder' | 'modelSet' | 'clock' | 'log'>,
) {
  return {
    ...given,
    workers: config.VISION_WORKERS,
    limits: {
      bytesMax: config.IMAGE_BYTES_MAX,
      pixelsMax: config.IMAGE_PIXELS_MAX,
      sideMinPx: config.IMAGE_SIDE_MIN_PX,
    },
    queuePerWorkerMax: config.VISION_QUEUE_PER_WORKER_MAX,
    queueBytesMax: config.VISION_QUEUE_BYTES_MAX,
    queueWaitMsMax: config.VISION_QUEUE_WAIT_MS_MAX,
    jobMsMax: config.VISION_TIMEOUT_MS,
    workerJobsMax: config.VISION_WORKER_IMAGES_MAX,
  }
}

const shutdownReason = 'the server is told to end'

/** Why calls cannot be answered at this moment, one sentence each. */
async function unreadyReasons(
  store: Store,
  vision: VisionPool,
  dataDir: string,
): Promise<string[]> {
  const reasons: string[] = []
  if (!vision.isReady()) reasons.push('no vision worker is up')
  const accounts = store.db.selectFrom('accounts').select('accountId').limit(1)
  const rows = await runAsAllAccounts(() => accounts.execute()).catch(() => undefined)
  if (!rows) reasons.push('the database does not answer')
  else if (rows.length === 0) reasons.push('the database has no account')
  if (!store.isShared && freeBytes(dataDir) < freeBytesMin)
    reasons.push('less than 1 GiB of disk is free')
  return reasons
}

function freeBytes(folder: string): number {
  const { bavail, bsize } = statfsSync(folder)
  return bavail * bsize
}
