import { statfsSync } from 'node:fs'
import { readdir } from 'node:fs/promises'
import path from 'node:path'
import { createAuditRunner } from '../billing/audit-runner.ts'
import { settings, type Config } from '../config.ts'
import { consoleRoutes } from '../console/routes.ts'
import { createPasswordHasher } from '../console/auth/password-hasher.ts'
import { serveConsoleRoute } from '../console/server/serve-route.ts'
import type {
  ConsoleServices,
  ModelSummary,
  ModelInventory,
  ServerStatus,
} from '../console/services.ts'
import { createSignInThrottle } from '../console/auth/sign-in-throttle.ts'
import type { Gallery } from '../gallery/gallery.ts'
import { similarityAt, type Calibration } from '../gallery/calibration/similarity.ts'
import type { Gate } from '../gate/gate.ts'
import { execute, type ExecuteOptions } from '../http/execute.ts'
import type { Route } from '../http/route.ts'
import type { Clock } from '../lib/clock.ts'
import { fileSize } from '../lib/file-size.ts'
import type { Log } from '../lib/log.ts'
import { listModels, type ListedModel } from '../models/list-models.ts'
import { liveScoreMin, type ModelSet } from '../models/model-set.ts'
import { storeLocationOf, type Store } from '../store/database.ts'

/** What the console needs of the parts that the service is made of. */
export type ConsoleServicesOptions = {
  readonly version: string
  readonly store: Store
  readonly gate: Gate
  readonly gallery: Gallery
  readonly modelsFolder: string
  /** What this process looks with. */
  readonly modelSet: ModelSet
  /** What scores of its recognizer mean. */
  readonly calibration: Calibration
  readonly executeOptions: ExecuteOptions
  readonly workers: () => ServerStatus['workers']
  /** Why calls cannot be answered now. */
  readonly notReady: () => Promise<readonly string[]>
  readonly clock: Clock
  readonly log: Log
}

/** The routes of the console, over the parts of the service that it shows and changes. */
export function createConsoleRoutes(config: Config, options: ConsoleServicesOptions): Route[] {
  const services = createConsoleServices(config, options)
  return consoleRoutes.map((route) => serveConsoleRoute(route, services))
}

function createConsoleServices(config: Config, options: ConsoleServicesOptions): ConsoleServices {
  const { gate, executeOptions: executing, clock } = options
  return {
    ...options,
    authThrottle: gate.authThrottle,
    signInThrottle: createSignInThrottle(clock),
    passwordHasher: createPasswordHasher(),
    defaults: {
      sustainedPerS: config.RATE_SUSTAINED_PER_S,
      burst: config.RATE_BURST,
      unitMicros: config.UNIT_PRICE_MICROS,
      retentionDays: config.RETENTION_DAYS,
      livenessMin: liveScoreMin(options.modelSet),
    },
    bodyBytesMax: config.BODY_BYTES_MAX,
    jsonLimits: { depthMax: config.JSON_DEPTH_MAX, tokensMax: config.JSON_TOKENS_MAX },
    // The caller is known already; everything else is the way of every call.
    execute: (caller, request) =>
      execute(request, { ...executing, gate: { ...gate, authenticate: async () => caller } }),
    auditor: createAuditRunner(storeLocationOf(config)),
    similarityAt,
    readModels: () => readModelFacts(options),
    readSystem: () => readSystemFacts(config, options),
  }
}

/** What is there, and which of it this process looks with. */
async function readModelFacts({
  modelsFolder,
  modelSet: set,
  calibration,
}: ConsoleServicesOptions): Promise<ModelInventory> {
  const listed = (await listModels(modelsFolder, set)).filter(({ state }) => state !== 'available')
  return {
    active: listed.filter(({ use }) => use === 'active').map(toModelFact),
    installed: listed.filter(({ state }) => state === 'installed').map(toModelFact),
    calibration,
  }
}

function toModelFact({ model, roles, state, sha256, bytes, ...listed }: ListedModel): ModelSummary {
  const { version, licence, commercialUse, file } = listed
  return {
    role: roles.join(', '),
    id: model,
    version,
    licence,
    commercialUse,
    sha256: sha256 ?? '',
    file,
    bytes: bytes ?? 0,
    builtIn: state === 'built-in',
  }
}

async function readSystemFacts(
  config: Config,
  { notReady, workers, modelsFolder, store }: ConsoleServicesOptions,
): Promise<ServerStatus> {
  const { bavail, blocks, bsize } = statfsSync(config.DATA_DIR)
  const models = await readdir(modelsFolder).catch(() => [])
  const modelSizes = await Promise.all(
    models.map((name) => fileSize(path.join(modelsFolder, name))),
  )
  return {
    reasons: await notReady(),
    workers: workers(),
    disk: {
      freeBytes: bavail * bsize,
      totalBytes: blocks * bsize,
      modelsBytes: modelSizes.reduce((a, b) => a + b, 0),
    },
    store: await store.readInfo(),
    settings: effectiveSettings(config),
  }
}

/** Every setting as it holds; the address of a database may carry a password. */
function effectiveSettings(config: Config): ServerStatus['settings'] {
  return Object.entries(config).map(([name, value]) => {
    const { schema, fallback } = settings[name as keyof Config]
    const isDefault = schema.safeParse(fallback).data === value
    const shown = name === 'DATABASE_URL' && value !== '' ? '(set)' : String(value)
    return { name, value: shown, isDefault }
  })
}
