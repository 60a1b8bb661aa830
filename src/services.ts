import { statfsSync } from 'node:fs'
import path from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { allActions } from './actions/all.ts'
import { comprefaceRoutes } from './compreface/routes.ts'
import type { Config } from './config.ts'
import { openBooks, type Books } from './books.ts'
import { linkPath, makeLink } from './console/setup.ts'
import { deskRoutes } from './desk.ts'
import { createCalibrations } from './gallery/calibrations.ts'
import type { Eyes } from './gallery/remake.ts'
import type { Route } from './http/exchange.ts'
import { execute, type ExecuteOptions } from './http/execute.ts'
import { servePages } from './http/pages.ts'
import { restRoutes } from './http/routes/all.ts'
import { serveRest } from './http/routes/rest.ts'
import { serviceRoutes } from './http/routes/service.ts'
import { createServer, type Server } from './http/server.ts'
import type { Clock } from './lib/clock.ts'
import type { Log } from './lib/log.ts'
import { openMemory } from './memory.ts'
import { readModelsInUse } from './models-in-use.ts'
import type { PackProgress } from './models/prepare.ts'
import type { Store } from './store/database.ts'
import { checkModels } from './vision/check-models.ts'
import {
  openPool,
  type PoolOptions,
  type PoolStats,
  type VisionPool,
} from './vision/workers/pool.ts'
import { openWatch } from './watch.ts'

export type Surroundings = {
  readonly version: string
  readonly clock: Clock
  readonly log: Log
  readonly onProgress: (progress: PackProgress) => void
}

/** The whole service, put together and warm, but not listening yet. */
export type Facegate = {
  readonly server: Server
  /** To be called when it listens. @returns the first key; undefined at every later start. */
  readonly begin: Books['begin']
  /** Makes the one-time link by which the console's first owner, or a new one, sets a password. */
  readonly ownerLink: () => Promise<string>
  readonly vision: VisionPool
  /**
   * Says for `LEAVE_MS` that it is not ready any more and goes on meanwhile; then lets running calls
   * finish, ends the workers and closes the database.
   */
  readonly close: () => Promise<void>
}

const freeBytesMin = 1024 ** 3

/** The build of the console. */
const webFolder = path.join(import.meta.dirname, '../web/dist')

/** Puts the service together, in the order in which its parts need each other. */
export async function assemble(config: Config, surroundings: Surroundings): Promise<Facegate> {
  const { version, log, onProgress } = surroundings
  const books = await openBooks(config, surroundings)
  const { gate, begin, store, clock } = books
  const inUse = await readModelsInUse(config, { log, onProgress })
  const vision = openPool(visionOptions(config, { ...inUse, clock, log }))
  await Promise.all([vision.ready(), checkModels(inUse.modelsFolder, inUse.set)])

  const calibrations = createCalibrations(inUse.calibration, inUse.formerCalibrations)
  const remembering = { store, calibrations, eyes: eyesOf(vision), clock, log }
  const memory = await openMemory(config, remembering)
  const services = { vision, gallery: memory.gallery }

  const state = stateOf(config, store, vision)
  const actions = new Map(allActions.map((action) => [action.name as string, action]))
  const parts = { version, config, store, gate, vision, memory, actions, log }
  const watching = await openWatch({ ...parts, ...state })
  const executing = {
    gate,
    services,
    actions,
    ...readLimits(config),
    log,
    onAnswered: watching.onAnswered,
  }
  const desk = { ...surroundings, clock, ...inUse, ...services, ...state, store, gate, executing }
  const server = createServer({
    routes: [
      ...apiRoutes(config, executing),
      ...serviceRoutes({ version, metrics: watching.metrics, limits: apiLimits(config), ...state }),
      ...deskRoutes(config, desk),
    ],
    fallback: servePages(webFolder),
    ...serverLimits(config),
    log,
    watch: watching.server,
  })
  return {
    server,
    begin,
    ownerLink: async () => linkPath(await store.write((tx) => makeLink(tx, null, clock()))),
    vision,
    close: async () => {
      await state.leave()
      for (const part of [server, watching, vision]) await part.close()
      for (const part of [memory, books]) await part[Symbol.asyncDispose]()
    },
  }
}

function stateOf(config: Config, store: Store, vision: VisionPool) {
  let isLeaving = false
  return {
    notReady: async () => (isLeaving ? [leaving] : notReady(store, vision, config.DATA_DIR)),
    workers: () => workersOf(vision.stats()),
    /** From now on it is not ready; resolves when whoever asks has had the time to see that. */
    leave: async () => {
      isLeaving = true
      await sleep(config.LEAVE_MS)
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
function eyesOf(vision: VisionPool): Eyes {
  return {
    look: (...asked) => vision.look(...asked),
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
    json: { depthMax: config.JSON_DEPTH_MAX, tokensMax: config.JSON_TOKENS_MAX },
  }
}

function workersOf({ workersUp: up, workersBusy: busy, ...rest }: PoolStats) {
  return { up, busy, ...rest }
}

function serverLimits(config: Config) {
  return {
    proxies: config.TRUST_PROXY,
    headersMsMax: config.HEADERS_MS_MAX,
    requestMsMax: config.REQUEST_MS_MAX,
    connectionsMax: config.CONNECTIONS_MAX,
    drainMsMax: config.DRAIN_MS_MAX,
  }
}

/** The part of the configuration that the vision workers live by. */
export function visionOptions(
  config: Config,
  given: Pick<PoolOptions, 'modelsFolder' | 'set' | 'clock' | 'log'>,
) {
  return {
    ...given,
    workers: config.VISION_WORKERS,
    limits: {
      bytesMax: config.IMAGE_BYTES_MAX,
      pixelsMax: config.IMAGE_PIXELS_MAX,
      sideMinPx: config.IMAGE_SIDE_MIN_PX,
    },
    queuePerWorkerMax: config.QUEUE_PER_WORKER_MAX,
    queueBytesMax: config.QUEUE_BYTES_MAX,
    queueWaitMsMax: config.QUEUE_WAIT_MS_MAX,
    jobMsMax: config.JOB_MS_MAX,
    workerJobsMax: config.WORKER_JOBS_MAX,
  }
}

const leaving = 'the server is told to end'

/** Why calls cannot be answered at this moment, one sentence each. */
async function notReady(store: Store, vision: VisionPool, dataDir: string): Promise<string[]> {
  const reasons: string[] = []
  if (!vision.isReady()) reasons.push('no vision worker is up')
  const accounts = store.db.selectFrom('accounts').select('accountId').limit(1).execute()
  const rows = await accounts.catch(() => undefined)
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
