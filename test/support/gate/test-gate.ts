import assert from 'node:assert/strict'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import type { Action, Services } from '../../../src/actions/action.ts'
import { allocate, topUp } from '../../../src/billing/ledger.ts'
import { auditLedger } from '../../../src/billing/audit-ledger.ts'
import {
  openDatabase,
  type OpenedDatabase,
  type OpenDatabaseOptions,
} from '../../../src/start/open-database.ts'
import { readConfig } from '../../../src/config.ts'
import { execute, type ExecuteOptions } from '../../../src/http/execute.ts'
import type { RequestObserver } from '../../../src/http/metrics/observe-request.ts'
import { createHttpServer } from '../../../src/http/server.ts'
import { systemClock } from '../../../src/lib/clock.ts'
import { createLog } from '../../../src/lib/log.ts'
import { findBalance } from '../../../src/store/billing/balances.ts'
import { findCalls, type LoggedCall } from '../../../src/store/gate/calls.ts'
import { createKey } from '../../../src/store/tenancy/keys.ts'
import {
  budgetLedger,
  createProject,
  findProject,
  type Project,
} from '../../../src/store/tenancy/projects.ts'
import { allAccountsStore } from '../database/all-accounts-store.ts'
import { databaseSettings, dropDatabase } from '../database/engine.ts'
import { createTestClient, unlimitedRates, type TestClient } from '../facegate/test-facegate.ts'
import { testActions, type RunCounts } from './test-actions.ts'

/** The front door, the gate and the database, with actions that look at no picture. */
export type TestGate = AsyncDisposable &
  TestClient & {
    readonly database: OpenedDatabase
    readonly dataDir: string
    /** How often each text was said by svc.echo. */
    readonly runCounts: RunCounts
    readonly project: Project
    /** A client of another key. */
    readonly withKey: (key: string) => TestClient
  }

export type TestGateOptions = Partial<OpenDatabaseOptions> &
  Pick<ExecuteOptions, 'atStep'> & {
    readonly observer?: RequestObserver
    readonly environment?: Readonly<Record<string, string>>
    readonly actions?: ReadonlyMap<string, Action>
    readonly dataDir?: string
    readonly key?: string
  }

/** The actions of these tests look at nothing and remember nobody. */
const services: Services = {
  gallery: {} as Services['gallery'],
  vision: { analyzeImage: () => Promise.reject(new Error('there are no eyes here')) },
}

export async function startGate(options: TestGateOptions = {}): Promise<TestGate> {
  const dataDir = options.dataDir ?? (await mkdtemp(path.join(tmpdir(), 'facegate-gate-')))
  const config = readConfig({
    ...unlimitedRates,
    LOG_LEVEL: 'silent',
    ...(await databaseSettings(dataDir, options.environment)),
    ...options.environment,
    DATA_DIR: dataDir,
  })
  const { log = createLog(config.LOG_LEVEL) } = options
  const books = await openDatabase(config, { clock: systemClock, ...options, log })
  const runs: RunCounts = new Map()
  const executing = {
    gate: books.gate,
    services,
    log,
    onCallCompleted: () => {},
    actions: options.actions ?? testActions(runs),
    bodyBytesMax: config.BODY_BYTES_MAX,
    jsonLimits: {
      depthMax: config.JSON_DEPTH_MAX,
      tokensMax: config.JSON_TOKENS_MAX,
    },
    ...(options.atStep && { atStep: options.atStep }),
  }
  const handle = (request: Parameters<typeof execute>[0]) => execute(request, executing)
  const server = createHttpServer({
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
    ...(options.observer && { watch: options.observer }),
  })
  const url = await server.listen('127.0.0.1', Number(process.env['PORT'] ?? 0))
  const key = options.key ?? (await books.createFirstKey()) ?? ''
  const store = allAccountsStore(books.store)
  const project = await findProject(store.db, 'default')
  assert.ok(project)
  return {
    ...createTestClient(url, key),
    database: { ...books, store },
    dataDir,
    runCounts: runs,
    project,
    withKey: (other) => createTestClient(url, other),
    [Symbol.asyncDispose]: async () => {
      await server.close()
      await books[Symbol.asyncDispose]()
      if (options.dataDir) return
      await dropDatabase(dataDir)
      await rm(dataDir, { recursive: true, force: true })
    },
  }
}

/** A call of svc.echo. */
export function echoRequest(say: string, requestId?: string, more: object = {}): object {
  return { action: 'svc.echo', params: { say, ...more }, ...(requestId && { requestId }) }
}

/** Makes the budget of the project hold exactly so many micros. */
export async function setBudget(
  { database: books, project }: TestGate,
  micros: bigint,
): Promise<void> {
  const { store } = books
  const held = await findBalance(store.db, budgetLedger(project.projectId))
  await store.write(async (tx) => {
    if (micros > held.balanceMicros)
      await topUp(tx, project.accountId, micros - held.balanceMicros, Date.now())
    if (micros !== held.balanceMicros)
      await allocate(tx, project, micros - held.balanceMicros, Date.now())
  })
}

export function budgetMicros({ database: books, project }: TestGate): Promise<bigint> {
  return findBalance(books.store.db, budgetLedger(project.projectId)).then(
    (held) => held.balanceMicros,
  )
}

/** The rows of the request log, the newest first. */
export function callLogRows({
  database: books,
}: Pick<TestGate, 'database'>): Promise<LoggedCall[]> {
  return findCalls(books.store.db, { limit: 100_000 })
}

/** A second project with money of its own and a key. */
export async function addProject(gate: TestGate, name: string): Promise<Project & { key: string }> {
  const { db } = gate.database.store
  const { accountId } = gate.project
  const made = await createProject(db, { accountId, name, galleryMode: 'isolated' }, new Date())
  await gate.database.store.write(async (tx) => {
    await topUp(tx, accountId, 1_000_000n, Date.now())
    await allocate(tx, made, 1_000_000n, Date.now())
  })
  return { ...made, key: await addKey(gate, { projectId: made.projectId }) }
}

export async function addKey(
  { database: books, project }: TestGate,
  wanted: Partial<Parameters<typeof createKey>[1]> = {},
): Promise<string> {
  const { projectId } = project
  const whole = { projectId, name: 'another', permissions: ['*'], expiresAtUtc: null, ...wanted }
  return (await createKey(books.store.db, whole, new Date())).key
}

/** L1 to L9 hold. */
export async function assertLedgerAudit({
  database: books,
}: Pick<TestGate, 'database'>): Promise<void> {
  const checks = await auditLedger(books.store.db, Date.now())
  assert.equal(checks.length, 9)
  assert.deepEqual(
    checks.filter((check) => !check.ok),
    [],
  )
}
