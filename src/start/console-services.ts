import { statfsSync } from 'node:fs'
import { createAuditRunner } from '../billing/audit-runner.ts'
import type { Config } from '../config.ts'
import { consoleRoutes } from '../console/routes.ts'
import {
  createAnonymousLimit,
  createFailedSignInLog,
  createSignInThrottle,
} from '../console/auth/sign-in-throttle.ts'
import { createPasswordHasher, type PasswordHasher } from '../console/auth/password-hasher.ts'
import { createSecondFactors } from '../console/auth/second-factor/second-factors.ts'
import { serveConsoleRoute } from '../console/server/serve-route.ts'
import type { ConsoleServices, ServerStatus } from '../console/services.ts'
import type { Gallery } from '../gallery/gallery.ts'
import { openCertificateKey } from '../gallery/deletion/certificate-keys.ts'
import { openKeyring } from '../gallery/keys/keyring.ts'
import { createSecondFactorSecrets } from '../gallery/keys/second-factor-secrets.ts'
import { applyMeasuredTable } from '../gallery/calibration/calibrations.ts'
import { createGalleryMeasurements } from '../gallery/calibration/measurements.ts'
import { autoThreshold, similarityAt, type Calibration } from '../gallery/calibration/similarity.ts'
import type { Gate } from '../gate/gate.ts'
import { execute, type ExecuteOptions } from '../http/execute.ts'
import type { Route } from '../http/route.ts'
import { createLivenessSession } from '../http/routes/liveness-sessions.ts'
import { serveRest, type RestOptions } from '../http/routes/rest-route.ts'
import type { Clock } from '../lib/clock.ts'
import { createCertificate } from '../lib/crypto/deletion-certificate.ts'
import type { Log } from '../lib/log.ts'
import { liveScoreMin, type ModelSet } from '../models/model-set.ts'
import type { Store } from '../store/database.ts'
import type { KeyIdentity } from '../store/tenancy/keys.ts'
import type { Webhooks } from '../webhooks/webhooks.ts'
import { masterKeyPath, storeLocationOf } from './store-location.ts'
import { createModelCommands } from './system/model-commands.ts'
import { createSupportBundle, readModels, reportSettings } from './system/support-bundle.ts'
import type { SystemMonitor } from './system/system-monitor.ts'

/** The parts of the service that the console needs. */
export type ConsoleServicesOptions = Gallery & {
  readonly version: string
  readonly store: Store
  readonly gate: Gate
  readonly webhooks: Webhooks
  readonly modelsFolder: string
  /** The models of this process. */
  readonly modelSet: ModelSet
  /** The calibration of the active recognizer. */
  readonly calibration: Calibration
  readonly executeOptions: ExecuteOptions
  readonly workers: () => ServerStatus['workers']
  readonly systemMonitor: Pick<SystemMonitor, 'server' | 'report'>
  /** Returns the reasons why calls cannot be served now. */
  readonly notReady: () => Promise<readonly string[]>
  /** With the recommended parameters by default. */
  readonly passwordHasher?: PasswordHasher
  readonly clock: Clock
  readonly log: Log
}

/** The routes of the console's API. */
export function createConsoleRoutes(config: Config, options: ConsoleServicesOptions): Route[] {
  const services = createConsoleServices(config, options)
  return consoleRoutes.map((route) => serveConsoleRoute(route, services))
}

function createConsoleServices(config: Config, options: ConsoleServicesOptions): ConsoleServices {
  const { gate, executeOptions, clock } = options
  const location = storeLocationOf(config)
  const threads = { ...options, location, masterKeyFile: masterKeyPath(config) }
  const keyring = openKeyring(threads.masterKeyFile)
  // The console has authenticated the caller already; the rest runs as for every call.
  const authenticatedAs = (caller: KeyIdentity): ExecuteOptions & RestOptions => {
    const authenticate = async () => caller
    const gateOfCaller = { ...gate, authenticate, authenticateForAdmission: authenticate }
    return { ...executeOptions, gate: gateOfCaller }
  }
  return {
    ...options,
    authThrottle: gate.authThrottle,
    queueRead: gate.queueRead,
    signInThrottle: createSignInThrottle(clock),
    failedSignInLog: createFailedSignInLog(options),
    anonymousLimit: createAnonymousLimit(clock),
    passwordHasher: options.passwordHasher ?? createPasswordHasher(),
    secondFactors: createSecondFactors(createSecondFactorSecrets(keyring)),
    signDeletion: async (tx, row) =>
      createCertificate(row, await openCertificateKey(tx, keyring, row.accountId), clock()),
    defaults: defaultsOf(config, options.modelSet),
    bodyBytesMax: config.BODY_BYTES_MAX,
    publicUrl: config.PUBLIC_URL,
    imageLimits: {
      imageBytesMax: config.IMAGE_BYTES_MAX,
      imagePixelsMax: config.IMAGE_PIXELS_MAX,
      imageSideMinPx: config.IMAGE_SIDE_MIN_PX,
    },
    falseMatchRates: falseMatchRatesOf(options.calibration),
    jsonLimits: { depthMax: config.JSON_DEPTH_MAX, tokensMax: config.JSON_TOKENS_MAX },
    execute: (caller, request) => execute(request, authenticatedAs(caller)),
    createSession: async (caller, request) =>
      serveRest(createLivenessSession, authenticatedAs(caller)).handle(request),
    auditor: createAuditRunner(location),
    measurements: createGalleryMeasurements({ ...threads, kind: 'calibration' }),
    healthChecks: createGalleryMeasurements({ ...threads, kind: 'health' }),
    applyMeasuredTable,
    similarityAt,
    readModels: () => readModels(options),
    modelCommands: createModelCommands(config, options),
    readSystem: () => readServerStatus(config, options),
    createSupportBundle: () =>
      createSupportBundle(config, { ...options, live: options.systemMonitor }),
  }
}

function defaultsOf(config: Config, modelSet: ModelSet): ConsoleServices['defaults'] {
  return {
    sustainedPerS: config.RATE_SUSTAINED_PER_S,
    burst: config.RATE_BURST,
    unitMicros: config.UNIT_PRICE_MICROS,
    retentionDays: config.RETENTION_DAYS,
    livenessMin: liveScoreMin(modelSet),
    identifyThresholdOf: autoThreshold,
  }
}

function falseMatchRatesOf(calibration: Calibration): ConsoleServices['falseMatchRates'] {
  return calibration.points.map(({ fmr, score }) => ({
    rate: fmr,
    similarity: similarityAt(score, calibration),
  }))
}

async function readServerStatus(config: Config, options: ConsoleServicesOptions) {
  const { notReady, workers, store } = options
  const { bavail, blocks, bsize } = statfsSync(config.DATA_DIR)
  const { models } = await readModels(options)
  const present = models.filter(({ state }) => state !== 'available')
  return {
    reasons: await notReady(),
    workers: workers(),
    disk: {
      freeBytes: bavail * bsize,
      totalBytes: blocks * bsize,
      modelsBytes: present.reduce((sum, { bytes }) => sum + (bytes ?? 0), 0),
    },
    store: await store.readInfo(),
    settings: reportSettings(config),
  }
}
