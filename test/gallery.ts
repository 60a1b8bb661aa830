import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import type { Services } from '../src/actions/action.ts'
import { allActions } from '../src/actions/all.ts'
import { allocate, topUp } from '../src/billing/ledger.ts'
import { openBooks, type Books, type BooksOptions } from '../src/books.ts'
import { comprefaceRoutes } from '../src/compreface/routes.ts'
import { readConfig } from '../src/config.ts'
import { deskRoutes } from '../src/desk.ts'
import type { Eyes } from '../src/gallery/remake.ts'
import { execute, type ExecuteOptions } from '../src/http/execute.ts'
import { restRoutes } from '../src/http/routes/all.ts'
import { serveRest } from '../src/http/routes/rest.ts'
import { createServer } from '../src/http/server.ts'
import { systemClock } from '../src/lib/clock.ts'
import { createLog, type Log } from '../src/lib/log.ts'
import { openMemory, type Memory } from '../src/memory.ts'
import { builtinSet } from '../src/models/pack.ts'
import { createKey } from '../src/store/keys.ts'
import { createAccount, createProject, type Project } from '../src/store/projects.ts'
import { databaseOf, dropDatabaseOf, isOnPostgres } from './engine.ts'
import { clientOf, unlimited, type TestAnswer, type TestClient } from './facegate.ts'
import { openPeopleEyes, peopleCalibrations, picture } from './people.ts'
import type { PeopleEyes, PeopleModels, Person } from './people.ts'

/** The whole service but for its eyes, which read pictures that say who is in them. */
export type TestGallery = AsyncDisposable &
  GalleryClient & {
    readonly books: Books
    readonly memory: Memory
    readonly eyes: PeopleEyes
    readonly dataDir: string
    readonly as: (key: string) => GalleryClient
    /** A client of a new project, with a budget, in the account given or in a new one. */
    readonly join: (project: NewProject) => Promise<GalleryClient & { readonly project: Project }>
  }

export type GalleryClient = TestClient & {
  readonly call: (action: string, params: object, more?: object) => Promise<TestAnswer>
  /** The value of the first result. @throws AssertionError when the call is not ok. */
  // oxlint-disable-next-line typescript/no-explicit-any
  readonly value: (action: string, params: object, more?: object) => Promise<any>
  /** The code of the failure. @throws AssertionError when the call is ok. */
  readonly code: (action: string, params: object) => Promise<string>
  readonly rest: (method: string, path: string) => Promise<TestAnswer>
}

type NewProject = Pick<Project, 'galleryMode'> & {
  readonly accountId?: string
  readonly permissions?: readonly string[]
}

export type TestGalleryOptions = Partial<BooksOptions> &
  Pick<ExecuteOptions, 'atStep'> & {
    readonly environment?: Readonly<Record<string, string>>
    readonly dataDir?: string
    readonly key?: string | undefined
    readonly log?: Log
    /** Eyes that see; by default those that read. */
    readonly vision?: Services['vision']
    /** The models to look with; one by default. */
    readonly models?: PeopleModels
    /** What each look waits for. */
    readonly atLook?: () => Promise<unknown>
  }

export async function startGallery(options: TestGalleryOptions = {}): Promise<TestGallery> {
  const dataDir = options.dataDir ?? (await mkdtemp(path.join(tmpdir(), 'facegate-gallery-')))
  const config = readConfig({
    ...unlimited,
    LOG_LEVEL: 'silent',
    STARTER_CREDIT_MICROS: '1000000000',
    ...(await databaseOf(dataDir, options.environment)),
    ...options.environment,
    DATA_DIR: dataDir,
  })
  const { log = createLog(config.LOG_LEVEL), clock = systemClock, atStep } = options
  await using opened = new AsyncDisposableStack()
  const books = opened.use(await openBooks(config, { ...options, clock, log }))
  const { store, gate } = books
  const models = options.models ?? { active: 'people@1' }
  const calibrations = peopleCalibrations(models)
  const people = openPeopleEyes(models, options.atLook)
  const vision = options.vision ?? people
  const eyes: Eyes = { look: (...asked) => vision.look(...asked), isIdle: () => true }
  const remembering = { store, calibrations, eyes, clock, log }
  const memory = opened.use(await openMemory(config, remembering))
  const services = { vision, gallery: memory.gallery }
  const executing = {
    gate,
    services,
    log,
    onAnswered: () => {},
    actions: new Map(allActions.map((action) => [action.name, action])),
    bodyBytesMax: config.BODY_BYTES_MAX,
    json: { depthMax: config.JSON_DEPTH_MAX, tokensMax: config.JSON_TOKENS_MAX },
    ...(atStep && { atStep }),
  }
  const handle = (request: Parameters<typeof execute>[0]) => execute(request, executing)
  const { gallery } = memory
  const calibration = calibrations.of(models.active)
  assert.ok(calibration, 'the active model has a table')
  const desk = {
    version: 'test',
    modelsFolder: path.join(dataDir, 'models'),
    set: builtinSet,
    store,
    gate,
    gallery,
    calibration,
    executing,
    clock,
    log,
  }
  const server = createServer({
    routes: [
      { method: 'POST', path: '/v1/face/execute', handle },
      ...restRoutes.map((route) => serveRest(route, { gate, services, log })),
      ...(config.COMPREFACE_API === 'on' ? comprefaceRoutes(executing) : []),
      ...deskRoutes(config, { ...desk, notReady: async () => [], workers: () => noWorkers }),
    ],
    proxies: config.TRUST_PROXY,
    headersMsMax: 10_000,
    requestMsMax: 30_000,
    connectionsMax: 1000,
    drainMsMax: 100,
    log,
  })
  opened.defer(() => server.close())
  const url = await server.listen('127.0.0.1', Number(process.env['PORT'] ?? 0))
  const key = options.key ?? (await books.begin()) ?? ''
  const as = (other: string): GalleryClient => galleryClient(clientOf(url, other))
  const held = opened.move()
  return {
    ...as(key),
    books,
    memory,
    eyes: people,
    dataDir,
    as,
    join: async (wanted) => {
      const { project, key: own } = await newProject(books, wanted)
      return { ...as(own), project }
    },
    [Symbol.asyncDispose]: async () => {
      await held.disposeAsync()
      if (options.dataDir) return
      await dropDatabaseOf(dataDir)
      await rm(dataDir, { recursive: true, force: true })
    },
  }
}

const noWorkers = {
  up: 0,
  busy: 0,
  queued: 0,
  queuedBytes: 0,
  respawns: 0,
  recycled: 0,
  poisoned: 0,
}

let names = 0

async function newProject({ store }: Books, wanted: NewProject) {
  const now = new Date()
  const { galleryMode, permissions = ['*'] } = wanted
  const name = `project ${++names}`
  const accountId = wanted.accountId ?? (await createAccount(store.db, name, now))
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

export function galleryClient(client: TestClient): GalleryClient {
  const call: GalleryClient['call'] = (action, params, more = {}) =>
    client.post({ action, params, ...more })
  return {
    ...client,
    call,
    value: async (action, params, more = {}) => {
      const asked = { requestId: randomUUID(), ...more }
      let answer = await call(action, params, asked)
      // Calls that queue for one gallery of a busy server are told to come again.
      while (isOnPostgres() && answer.status === 503) answer = await call(action, params, asked)
      const { body } = answer
      assert.deepEqual(body.errors, [])
      return body.data.results[0].value
    },
    code: async (action, params) => {
      const { body } = await call(action, params)
      assert.equal(body.ok, false, JSON.stringify(body))
      return body.errors[0].code
    },
    rest: async (method, place) => {
      const response = await fetch(`${client.url}${place}`, {
        method,
        headers: { 'x-api-key': client.key },
      })
      const { status, headers } = response
      return { status, headers, body: await response.json() }
    },
  }
}

/** `params.images` that show one picture of these people. */
export function images(...people: readonly (Person | string)[]): object {
  const { bytes, contentType } = picture(...people)
  return { images: [{ kind: 'image', bytes: bytes.toString('base64'), contentType }] }
}
