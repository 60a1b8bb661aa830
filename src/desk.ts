import { statfsSync } from 'node:fs'
import { readdir } from 'node:fs/promises'
import path from 'node:path'
import { createAuditor } from './billing/auditor.ts'
import { settings, type Config } from './config.ts'
import { consoleRoutes } from './console/all.ts'
import { createPasswords } from './console/password.ts'
import { serveConsole } from './console/serve.ts'
import type { ConsoleServices, ModelFact, ModelFacts, SystemFacts } from './console/services.ts'
import { createThrottle } from './console/throttle.ts'
import type { Gallery } from './gallery/gallery.ts'
import { similarityAt, type Calibration } from './gallery/similarity.ts'
import type { Gate } from './gate/gate.ts'
import { execute, type ExecuteOptions } from './http/execute.ts'
import type { Route } from './http/exchange.ts'
import type { Clock } from './lib/clock.ts'
import { fileSize } from './lib/file-size.ts'
import type { Log } from './lib/log.ts'
import { livenessMinOf } from './models/liveness-min.ts'
import { listModels, type ListedModel } from './models/list-models.ts'
import type { ModelSet } from './models/pack.ts'
import { placeOf, type Store } from './store/database.ts'

/** What the console needs of the parts that the service is made of. */
export type DeskOptions = {
  readonly version: string
  readonly store: Store
  readonly gate: Gate
  readonly gallery: Gallery
  readonly modelsFolder: string
  /** What this process looks with. */
  readonly set: ModelSet
  /** What scores of its recognizer mean. */
  readonly calibration: Calibration
  readonly executing: ExecuteOptions
  readonly workers: () => SystemFacts['workers']
  /** Why calls cannot be answered now. */
  readonly notReady: () => Promise<readonly string[]>
  readonly clock: Clock
  readonly log: Log
}

/** The routes of the console, over the parts of the service that it shows and changes. */
export function deskRoutes(config: Config, options: DeskOptions): Route[] {
  const services = servicesOf(config, options)
  return consoleRoutes.map((route) => serveConsole(route, services))
}

function servicesOf(config: Config, options: DeskOptions): ConsoleServices {
  const { gate, executing, clock } = options
  return {
    ...options,
    strangers: gate.strangers,
    throttle: createThrottle(clock),
    passwords: createPasswords(),
    defaults: {
      sustainedPerS: config.RATE_SUSTAINED_PER_S,
      burst: config.RATE_BURST,
      unitMicros: config.UNIT_PRICE_MICROS,
      retentionDays: config.RETENTION_DAYS,
      livenessMin: livenessMinOf(options.set),
    },
    bodyBytesMax: config.BODY_BYTES_MAX,
    json: { depthMax: config.JSON_DEPTH_MAX, tokensMax: config.JSON_TOKENS_MAX },
    // The caller is known already; everything else is the way of every call.
    execute: (caller, request) =>
      execute(request, { ...executing, gate: { ...gate, identify: async () => caller } }),
    auditor: createAuditor(placeOf(config)),
    similarityAt,
    models: () => modelFacts(options),
    system: () => systemFacts(config, options),
  }
}

/** What is there, and which of it this process looks with. */
async function modelFacts({ modelsFolder, set, calibration }: DeskOptions): Promise<ModelFacts> {
  const listed = (await listModels(modelsFolder, set)).filter(({ state }) => state !== 'available')
  return {
    active: listed.filter(({ use }) => use === 'active').map(factOf),
    installed: listed.filter(({ state }) => state === 'installed').map(factOf),
    calibration,
  }
}

function factOf({ model, roles, state, sha256, bytes, ...listed }: ListedModel): ModelFact {
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

async function systemFacts(
  config: Config,
  { notReady, workers, modelsFolder, store }: DeskOptions,
): Promise<SystemFacts> {
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
    store: await store.about(),
    settings: settingsOf(config),
  }
}

/** Every setting as it holds; the address of a database may carry a password. */
function settingsOf(config: Config): SystemFacts['settings'] {
  return Object.entries(config).map(([name, value]) => {
    const { schema, fallback } = settings[name as keyof Config]
    const isDefault = schema.safeParse(fallback).data === value
    const shown = name === 'DATABASE_URL' && value !== '' ? '(set)' : String(value)
    return { name, value: shown, isDefault }
  })
}
