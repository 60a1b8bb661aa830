import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { rm } from 'node:fs/promises'
import path from 'node:path'
import type { Services } from '../../../src/actions/action.ts'
import { allActions } from '../../../src/actions/all-actions.ts'
import { allocate, topUp } from '../../../src/billing/ledger.ts'
import type { OpenedDatabase } from '../../../src/start/open-database.ts'
import type { PasswordHasher } from '../../../src/console/auth/password-hasher.ts'
import type { Calibrations } from '../../../src/gallery/calibration/calibrations.ts'
import { comprefaceRoutes } from '../../../src/compreface/compreface-routes.ts'
import { readConfig } from '../../../src/config.ts'
import { createConsoleRoutes } from '../../../src/start/console-services.ts'
import type { ReEmbedVisionClient } from '../../../src/gallery/re-embed/re-embed.ts'
import { execute } from '../../../src/http/execute.ts'
import type { Route } from '../../../src/http/route.ts'
import { restRoutes } from '../../../src/http/routes/rest-routes.ts'
import { serveSessionFrames } from '../../../src/http/routes/session-frames.ts'
import { serveRest } from '../../../src/http/routes/rest-route.ts'
import { createBodyBudget, type BodyBudget } from '../../../src/http/input/incoming-body.ts'
import { createHttpServer } from '../../../src/http/server.ts'
import { bodyBudgetLimits, bodyLimits } from '../../../src/start/http-limits.ts'
import { createLog, type Log } from '../../../src/lib/log.ts'
import type { RecentProblems } from '../../../src/lib/observability/recent-problems.ts'
import { openGalleryServices, type OpenedGallery } from '../../../src/start/open-gallery.ts'
import type { SystemMonitor } from '../../../src/start/system/system-monitor.ts'
import { openWebhooks, type OpenedWebhooks } from '../../../src/start/webhooks/open-webhooks.ts'
import { builtinSet } from '../../../src/models/model-set.ts'
import { createKey } from '../../../src/store/tenancy/keys.ts'
import { createAccount, createProject, type Project } from '../../../src/store/tenancy/projects.ts'
import { allAccountsStore } from '../database/all-accounts-store.ts'
import { openTestMonitor } from '../console/test-monitor.ts'
import { createDataFolder, databaseDefaults } from '../database/data-folder.ts'
import { openTestDatabase, type TestDatabaseOptions } from '../database/open-test-database.ts'
import { dropDatabase, serviceDatabaseSettings, isOnPostgres } from '../database/engine.ts'
import {
  createTestClient,
  repeatWhileBusy,
  unlimitedRates,
  type TestResponse,
  type TestClient,
} from '../facegate/test-client.ts'
import { withGateSteps, withRunStep, type BeforeStep } from '../gate/call-steps.ts'
import { createFakeVisionClient, fakeCalibrations, fakeImage } from './fake-vision.ts'
import type { FakeVisionClient, FakeModels, FakePerson } from './fake-vision.ts'
import { serverLimits } from '../network/server-limits.ts'

/** The complete service with a fake vision client, which reads images that list their people. */
export type TestGallery = AsyncDisposable &
  GalleryClient & {
    readonly database: OpenedDatabase
    readonly openedGallery: OpenedGallery
    readonly webhooks: OpenedWebhooks['webhooks']
    readonly systemMonitor: SystemMonitor
    readonly bodyBudget: BodyBudget
    readonly vision: FakeVisionClient
    readonly dataDir: string
    readonly withKey: (key: string) => GalleryClient
    /** Creates a project with a budget, in a given or a new account, and returns its client. */
    readonly createProjectClient: (
      project: TestProjectOptions,
    ) => Promise<GalleryClient & { readonly project: Project }>
  }

export type GalleryClient = TestClient & {
  readonly call: (action: string, params: object, options?: object) => Promise<TestResponse>
  /** Returns the value of the first result. @throws AssertionError if the call fails. */
  // oxlint-disable-next-line typescript/no-explicit-any
  readonly value: (action: string, params: object, options?: object) => Promise<any>
  /** Returns the code of the first error. @throws AssertionError if the call succeeds. */
  readonly code: (action: string, params: object) => Promise<string>
  readonly rest: (method: string, path: string, body?: unknown) => Promise<TestResponse>
}

type TestProjectOptions = Pick<Project, 'galleryMode'> & {
  readonly accountId?: string
  readonly permissions?: readonly string[]
}

export type TestGalleryOptions = Partial<TestDatabaseOptions> & {
  readonly beforeStep?: BeforeStep
  readonly environment?: Readonly<Record<string, string>>
  readonly dataDir?: string
  readonly key?: string | undefined
  readonly log?: Log
  /** Whether the server is registered with its health and its history. */
  readonly isMonitored?: boolean
  /** The warnings and errors of that log. */
  readonly recentProblems?: RecentProblems
  /** A vision client that replaces the fake one. */
  readonly vision?: Services['vision']
  /** The calibrations of that vision client's models. */
  readonly calibrations?: Calibrations
  /** The models of the fake vision client; one by default. */
  readonly models?: FakeModels
  /** Serves the requests that no route matches, such as the files of the console. */
  readonly fallback?: Route['handle']
  /** Hashes the passwords of console users. */
  readonly passwordHasher?: PasswordHasher
  /** Awaited before each response of the fake vision client. */
  readonly onAnalyze?: () => Promise<unknown>
}

export async function startGallery(options: TestGalleryOptions = {}): Promise<TestGallery> {
  const dataDir = options.dataDir ?? (await createDataFolder(options.environment))
  const config = readConfig({
    ...unlimitedRates,
    LOG_LEVEL: 'silent',
    STARTER_CREDIT_MICROS: '1000000000',
    ...(await serviceDatabaseSettings(dataDir, options.environment)),
    ...options.environment,
    DATA_DIR: dataDir,
  })
  const { log = createLog(config.LOG_LEVEL), beforeStep } = options
  await using opened = new AsyncDisposableStack()
  const openedDatabase = opened.use(
    await openTestDatabase(config, { ...databaseDefaults, ...options, log }),
  )
  const { store, clock } = openedDatabase
  const gate = withGateSteps(openedDatabase.gate, beforeStep)
  const database = { ...openedDatabase, store: allAccountsStore(store) }
  const models = options.models ?? { active: 'people@1' }
  const calibrations = options.calibrations ?? fakeCalibrations(models)
  const fakeVision = createFakeVisionClient(models, options.onAnalyze)
  const vision = options.vision ?? fakeVision
  const cropVision: ReEmbedVisionClient = {
    analyzeImage: (...parameters) => vision.analyzeImage(...parameters),
    isIdle: () => true,
  }
  const openedGallery = opened.use(
    await openGalleryServices(config, {
      store,
      calibrations,
      vision: cropVision,
      clock,
      log,
    }),
  )
  const { subjects, matching, maintenance, visitors, livenessSessions } = openedGallery
  const { webhooks } = opened.use(openWebhooks(config, { store, clock, log }))
  const extraImageTypes = config.IMAGE_TYPES_EXTRA
  const parts = { subjects, matching, maintenance, visitors, livenessSessions }
  const services = { ...parts, vision, extraImageTypes }
  const systemMonitor = opened.use(openTestMonitor(config, { ...options, store, clock, log }))
  if (options.isMonitored) await systemMonitor.start()
  const executeOptions = {
    gate,
    services,
    log,
    onCallCompleted: (_envelope: unknown, durationMs: number) =>
      systemMonitor.recordCall(durationMs),
    actions: withRunStep(new Map(allActions.map((action) => [action.name, action])), beforeStep),
    ...bodyLimits(config),
  }
  const handle = (request: Parameters<typeof execute>[0]) => execute(request, executeOptions)
  const calibration = calibrations.of(calibrations.activeModelId)
  assert.ok(calibration, 'the active model has a calibration')
  const consoleOptions = {
    systemMonitor,
    version: 'test',
    modelsFolder: path.join(dataDir, 'models'),
    modelSet: builtinSet,
    store,
    gate,
    subjects,
    maintenance,
    visitors,
    matching,
    webhooks,
    calibration,
    executeOptions,
    clock,
    log,
  }
  const bodyBudget = createBodyBudget(bodyBudgetLimits(config))
  const server = createHttpServer({
    routes: [
      { method: 'POST', path: '/v1/face/execute', handle },
      serveSessionFrames(executeOptions),
      ...restRoutes.map((route) => serveRest(route, executeOptions)),
      ...(config.COMPREFACE_API === 'on'
        ? comprefaceRoutes({ ...executeOptions, detectorKind: 'builtin' })
        : []),
      ...createConsoleRoutes(config, {
        ...consoleOptions,
        notReady: async () => [],
        workers: () => emptyPoolStats,
        ...(options.passwordHasher && { passwordHasher: options.passwordHasher }),
      }),
    ],
    ...(options.fallback && { fallback: options.fallback }),
    proxies: config.TRUST_PROXY,
    corsOrigins: config.CORS_ORIGINS,
    bearerKeys: config.BEARER_KEYS === 'on',
    ...serverLimits,
    connectionsMax: 1000,
    connectionsPerAddressMax: 1000,
    bodyBudget,
    log,
  })
  opened.defer(() => server.close())
  const url = await server.listen('127.0.0.1', Number(process.env['PORT'] ?? 0))
  const key = options.key ?? (await database.createFirstKey()) ?? ''
  const withKey = (apiKey: string): GalleryClient =>
    createGalleryClient(createTestClient(url, apiKey))
  const resources = opened.move()
  return {
    ...withKey(key),
    database,
    openedGallery,
    webhooks,
    systemMonitor,
    bodyBudget,
    vision: fakeVision,
    dataDir,
    withKey,
    createProjectClient: async (projectOptions) => {
      const { project, key: projectKey } = await createFundedProject(database, projectOptions)
      return { ...withKey(projectKey), project }
    },
    [Symbol.asyncDispose]: async () => {
      await resources.disposeAsync()
      if (options.dataDir) return
      await dropDatabase(dataDir)
      await rm(dataDir, { recursive: true, force: true })
    },
  }
}

const emptyPoolStats = {
  up: 0,
  busy: 0,
  queued: 0,
  queuedBytes: 0,
  respawns: 0,
  recycled: 0,
  quarantined: 0,
}

let projectCount = 0

async function createFundedProject({ store }: OpenedDatabase, options: TestProjectOptions) {
  const now = new Date()
  const { galleryMode, permissions = ['*'] } = options
  const name = `project ${++projectCount}`
  const accountId = options.accountId ?? (await createAccount(store.db, name, now))
  const project = await createProject(store.db, { accountId, name, galleryMode }, now)
  const { projectId } = project
  await store.write(async (tx) => {
    await topUp(tx, accountId, 1_000_000_000n, Date.now())
    await allocate(tx, { accountId, projectId }, 1_000_000_000n, Date.now())
  })
  const { key } = await createKey(
    store.db,
    { projectId, name, permissions, expiresAtUtc: null },
    now,
  )
  return { project, key }
}

export function createGalleryClient(client: TestClient): GalleryClient {
  const call: GalleryClient['call'] = (action, params, options = {}) =>
    client.post({ action, params, ...options })
  return {
    ...client,
    call,
    value: async (action, params, options = {}) => {
      const callOptions = { requestId: randomUUID(), ...options }
      const send = () => call(action, params, callOptions)
      // On PostgreSQL, calls that wait too long for the lock of their gallery return 503.
      const { body } = await (isOnPostgres() ? repeatWhileBusy(send) : send())
      assert.deepEqual(body.errors, [])
      return body.data.results[0].value
    },
    code: async (action, params) => {
      const { body } = await call(action, params)
      assert.equal(body.ok, false, JSON.stringify(body))
      return body.errors[0].code
    },
    rest: async (method, route, sent) => {
      const response = await fetch(`${client.url}${route}`, {
        method,
        headers: { 'x-api-key': client.key, 'content-type': 'application/json' },
        ...(sent !== undefined && { body: JSON.stringify(sent) }),
      })
      const { status, headers } = response
      return { status, headers, body: await response.json() }
    },
  }
}

/** Returns `params.images` with one image that shows these people. */
export function imageParams(...people: readonly (FakePerson | string)[]): object {
  const { bytes, contentType } = fakeImage(...people)
  return { images: [{ kind: 'image', bytes: bytes.toString('base64'), contentType }] }
}
