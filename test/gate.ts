import assert from 'node:assert/strict'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import type { Action, Services } from '../src/actions/action.ts'
import { allocate, topUp } from '../src/billing/ledger.ts'
import { verifyBooks } from '../src/billing/verify.ts'
import { openBooks, type Books, type BooksOptions } from '../src/books.ts'
import { readConfig } from '../src/config.ts'
import { execute, type ExecuteOptions } from '../src/http/execute.ts'
import type { ServerWatch } from '../src/http/observed.ts'
import { createServer } from '../src/http/server.ts'
import { systemClock } from '../src/lib/clock.ts'
import { createLog } from '../src/lib/log.ts'
import { balanceOf } from '../src/store/balances.ts'
import { findCalls, type Call } from '../src/store/calls.ts'
import { createKey } from '../src/store/keys.ts'
import { budgetOf, createProject, findProject, type Project } from '../src/store/projects.ts'
import { databaseOf, dropDatabaseOf } from './engine.ts'
import { clientOf, unlimited, type TestClient } from './facegate.ts'
import { testActions, type Runs } from './gate-actions.ts'

/** The front door, the gate and the database, with actions that look at no picture. */
export type TestGate = AsyncDisposable &
  TestClient & {
    readonly books: Books
    readonly dataDir: string
    /** How often each text was said by svc.echo. */
    readonly runs: Runs
    readonly project: Project
    /** A client of another key. */
    readonly as: (key: string) => TestClient
  }

export type TestGateOptions = Partial<BooksOptions> &
  Pick<ExecuteOptions, 'atStep'> & {
    readonly watch?: ServerWatch
    readonly environment?: Readonly<Record<string, string>>
    readonly actions?: ReadonlyMap<string, Action>
    readonly dataDir?: string
    readonly key?: string
  }

/** The actions of these tests look at nothing and remember nobody. */
const services: Services = {
  gallery: {} as Services['gallery'],
  vision: { look: () => Promise.reject(new Error('there are no eyes here')) },
}

export async function startGate(options: TestGateOptions = {}): Promise<TestGate> {
  const dataDir = options.dataDir ?? (await mkdtemp(path.join(tmpdir(), 'facegate-gate-')))
  const config = readConfig({
    ...unlimited,
    LOG_LEVEL: 'silent',
    ...(await databaseOf(dataDir, options.environment)),
    ...options.environment,
    DATA_DIR: dataDir,
  })
  const { log = createLog(config.LOG_LEVEL) } = options
  const books = await openBooks(config, { clock: systemClock, ...options, log })
  const runs: Runs = new Map()
  const executing = {
    gate: books.gate,
    services,
    log,
    onAnswered: () => {},
    actions: options.actions ?? testActions(runs),
    bodyBytesMax: config.BODY_BYTES_MAX,
    json: {
      depthMax: config.JSON_DEPTH_MAX,
      tokensMax: config.JSON_TOKENS_MAX,
    },
    ...(options.atStep && { atStep: options.atStep }),
  }
  const handle = (request: Parameters<typeof execute>[0]) => execute(request, executing)
  const server = createServer({
    routes: [
      {
        method: 'POST',
        path: '/v1/face/execute',
        handle,
      },
    ],
    headersMsMax: 1e4,
    requestMsMax: 3e4,
    connectionsMax: 1e3,
    drainMsMax: 100,
    log,
    ...(options.watch && { watch: options.watch }),
  })
  const url = await server.listen('127.0.0.1', Number(process.env['PORT'] ?? 0))
  const key = options.key ?? (await books.begin()) ?? ''
  const project = await findProject(books.store.db, 'default')
  assert.ok(project)
  return {
    ...clientOf(url, key),
    books,
    dataDir,
    runs,
    project,
    as: (other) => clientOf(url, other),
    [Symbol.asyncDispose]: async () => {
      await server.close()
      await books[Symbol.asyncDispose]()
      if (options.dataDir) return
      await dropDatabaseOf(dataDir)
      await rm(dataDir, { recursive: true, force: true })
    },
  }
}

/** A call of svc.echo. */
export function echo(say: string, requestId?: string, more: object = {}): object {
  return { action: 'svc.echo', params: { say, ...more }, ...(requestId && { requestId }) }
}

/** Makes the budget of the project hold exactly so many micros. */
export async function setBudget({ books, project }: TestGate, micros: bigint): Promise<void> {
  const { store } = books
  const held = await balanceOf(store.db, budgetOf(project.projectId))
  await store.write(async (tx) => {
    if (micros > held.balanceMicros)
      await topUp(tx, project.accountId, micros - held.balanceMicros, Date.now())
    if (micros !== held.balanceMicros)
      await allocate(tx, project, micros - held.balanceMicros, Date.now())
  })
}

export function budgetMicros({ books, project }: TestGate): Promise<bigint> {
  return balanceOf(books.store.db, budgetOf(project.projectId)).then((held) => held.balanceMicros)
}

/** The rows of the request log, the newest first. */
export function logRows({ books }: Pick<TestGate, 'books'>): Promise<Call[]> {
  return findCalls(books.store.db, { limit: 100_000 })
}

/** A second project with money of its own and a key. */
export async function anotherProject(
  gate: TestGate,
  name: string,
): Promise<Project & { key: string }> {
  const { db } = gate.books.store
  const { accountId } = gate.project
  const made = await createProject(db, { accountId, name, galleryMode: 'isolated' }, new Date())
  await gate.books.store.write(async (tx) => {
    await topUp(tx, accountId, 1_000_000n, Date.now())
    await allocate(tx, made, 1_000_000n, Date.now())
  })
  return { ...made, key: await anotherKey(gate, { projectId: made.projectId }) }
}

export async function anotherKey(
  { books, project }: TestGate,
  wanted: Partial<Parameters<typeof createKey>[1]> = {},
): Promise<string> {
  const { projectId } = project
  const whole = { projectId, name: 'another', permissions: ['*'], expiresAtUtc: null, ...wanted }
  return (await createKey(books.store.db, whole, new Date())).key
}

/** L1 to L9 hold. */
export async function assertBooks({ books }: Pick<TestGate, 'books'>): Promise<void> {
  const checks = await verifyBooks(books.store.db, Date.now())
  assert.equal(checks.length, 9)
  assert.deepEqual(
    checks.filter((check) => !check.ok),
    [],
  )
}
