import { statfsSync } from 'node:fs'
import path from 'node:path'
import { allActions } from './actions/all.ts'
import type { Config } from './config.ts'
import { openBooks, type Books } from './books.ts'
import { linkPath, makeLink } from './console/setup.ts'
import { deskRoutes } from './desk.ts'
import { calibrationOf } from './gallery/calibrations.ts'
import type { Calibration } from './gallery/similarity.ts'
import { execute } from './http/execute.ts'
import { createMetrics } from './http/metrics.ts'
import { servePages } from './http/pages.ts'
import { restRoutes } from './http/routes/all.ts'
import { serveRest } from './http/routes/rest.ts'
import { serviceRoutes } from './http/routes/service.ts'
import { createServer, type Server } from './http/server.ts'
import type { Clock } from './lib/clock.ts'
import type { Log } from './lib/log.ts'
import { openMemory } from './memory.ts'
import { preparePack, type PackProgress } from './models/prepare.ts'
import { readTemplateModel } from './models/template.ts'
import type { Database } from './store/database.ts'
import { checkModels } from './vision/check-models.ts'
import { openPool, type PoolStats, type VisionPool } from './vision/workers/pool.ts'

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
  /** Lets running calls finish, then ends the workers and closes the database. */
  readonly close: () => Promise<void>
}

const freeBytesMin = 1024 ** 3

/** The build of the console. */
const webFolder = path.join(import.meta.dirname, '../web/dist')

/** Puts the service together, in the order in which its parts need each other. */
export async function assemble(config: Config, surroundings: Surroundings): Promise<Facegate> {
  const { version, clock, log, onProgress } = surroundings
  const books = await openBooks(config, { clock, log })
  const { gate, begin, store } = books
  const modelsFolder = path.join(config.DATA_DIR, 'models')
  await preparePack({ folder: modelsFolder, onProgress, log })
  const vision = openPool(visionOptions(config, { modelsFolder, clock, log }))
  await Promise.all([vision.ready(), checkModels(modelsFolder)])

  const calibration = await builtinCalibration()
  const memory = await openMemory(config, { store, calibration, clock, log })
  const services = { vision, gallery: memory.gallery }

  const actions = new Map(allActions.map((action) => [action.name as string, action]))
  const metrics = createMetrics(() => vision.stats(), new Set(actions.keys()))
  const executing = {
    gate,
    services,
    actions,
    ...readLimits(config),
    log,
    onAnswered: metrics.onAnswered,
  }
  const state = {
    notReady: () => notReady(store.db, vision, config.DATA_DIR),
    workers: () => workersOf(vision.stats()),
  }
  const desk = { version, store, gate, ...services, calibration, executing, clock, log, ...state }
  const server = createServer({
    routes: [
      { method: 'POST', path: '/v1/face/execute', handle: (asked) => execute(asked, executing) },
      ...restRoutes.map((route) => serveRest(route, { gate, services, log })),
      ...serviceRoutes({ version, metrics: metrics.text, ...state }),
      ...deskRoutes(config, desk),
    ],
    fallback: servePages(webFolder),
    ...serverLimits(config),
    log,
  })
  return {
    server,
    begin,
    ownerLink: async () => linkPath(await store.write((tx) => makeLink(tx, null, clock()))),
    vision,
    close: async () => {
      await server.close()
      await vision.close()
      await memory[Symbol.asyncDispose]()
      await books[Symbol.asyncDispose]()
    },
  }
}

/** What the scores of the pack's templates mean. */
async function builtinCalibration(): Promise<Calibration> {
  const { modelId } = await readTemplateModel()
  const calibration = calibrationOf(modelId)
  if (!calibration) throw new Error(`there is no calibration of ${modelId}`)
  return calibration
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
  given: { readonly modelsFolder: string; readonly clock: Clock; readonly log: Log },
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

/** Why calls cannot be answered at this moment, one sentence each. */
async function notReady(db: Database, vision: VisionPool, dataDir: string): Promise<string[]> {
  const reasons: string[] = []
  if (!vision.isReady()) reasons.push('no vision worker is up')
  const rows = await db.selectFrom('accounts').select('accountId').limit(1).execute()
  if (rows.length === 0) reasons.push('the database has no account')
  const { bavail, bsize } = statfsSync(dataDir)
  if (bavail * bsize < freeBytesMin) reasons.push('less than 1 GiB of disk is free')
  return reasons
}
