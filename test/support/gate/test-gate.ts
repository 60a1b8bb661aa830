import assert from 'node:assert/strict'
import { rm } from 'node:fs/promises'
import type { Action, Services } from '../../../src/actions/action.ts'
import { allocate, topUp } from '../../../src/billing/ledger.ts'
import { auditLedger } from '../../../src/billing/audit-ledger.ts'
import type { OpenedDatabase } from '../../../src/start/open-database.ts'
import { readConfig } from '../../../src/config.ts'
import { execute } from '../../../src/http/execute.ts'
import type { RequestObserver } from '../../../src/http/metrics/metrics.ts'
import { createBodyBudget } from '../../../src/http/input/incoming-body.ts'
import { createHttpServer } from '../../../src/http/server.ts'
import { bodyBudgetLimits, bodyLimits } from '../../../src/start/http-limits.ts'
import { createLog } from '../../../src/lib/log.ts'
import { findBalance } from '../../../src/store/billing/balances.ts'
import { type LoggedCall } from '../../../src/store/gate/calls.ts'
import { findCalls } from '../find-calls.ts'
import { createKey } from '../../../src/store/tenancy/keys.ts'
import {
  budgetLedger,
  createProject,
  findProject,
  type Project,
} from '../../../src/store/tenancy/projects.ts'
import { allAccountsStore } from '../database/all-accounts-store.ts'
import { createDataFolder, databaseDefaults } from '../database/data-folder.ts'
import { openTestDatabase, type TestDatabaseOptions } from '../database/open-test-database.ts'
import { serviceDatabaseSettings, dropDatabase } from '../database/engine.ts'
import { createTestClient, unlimitedRates, type TestClient } from '../facegate/test-client.ts'
import { withGateSteps, withRunStep, type BeforeStep } from './call-steps.ts'
import { testActions, type RunCounts } from './test-actions.ts'
import { serverLimits } from '../network/server-limits.ts'

/** The HTTP server, the gate and the database, with actions that need no image. */
export type TestGate = AsyncDisposable &
  TestClient & {
    readonly database: OpenedDatabase
    readonly dataDir: string
    /** How many times svc.echo returned each text. */
    readonly runCounts: RunCounts
    readonly project: Project
    /** Returns a client with another key. */
    readonly withKey: (key: string) => TestClient
  }

export type TestGateOptions = Partial<TestDatabaseOptions> & {
  readonly beforeStep?: BeforeStep
  readonly observer?: RequestObserver
  readonly environment?: Readonly<Record<string, string>>
  readonly actions?: ReadonlyMap<string, Action>
  readonly dataDir?: string
  readonly key?: string
}

/** The actions of these tests use neither images nor a gallery. */
const matching = { calibratedFor: () => matching } as unknown as Services['matching']
const services: Services = {
  subjects: {} as Services['subjects'],
  matching,
  maintenance: {} as Services['maintenance'],
  visitors: {} as Services['visitors'],
  livenessSessions: {} as Services['livenessSessions'],
  vision: {} as Services['vision'],
}

export async function startGate(options: TestGateOptions = {}): Promise<TestGate> {
  const dataDir = options.dataDir ?? (await createDataFolder(options.environment))
  const config = readConfig({
    ...unlimitedRates,
    LOG_LEVEL: 'silent',
    ...(await serviceDatabaseSettings(dataDir, options.environment)),
    ...options.environment,
    DATA_DIR: dataDir,
  })
  const { log = createLog(config.LOG_LEVEL), beforeStep } = options
  const opened = await openTestDatabase(config, { ...databaseDefaults, ...options, log })
  const database = { ...opened, store: allAccountsStore(opened.store) }
  const runs: RunCounts = new Map()
  const executeOptions = {
    gate: withGateSteps(database.gate, beforeStep),
    services,
    log,
    onCallCompleted: () => {},
    actions: withRunStep(options.actions ?? testActions(runs), beforeStep),
    ...bodyLimits(config),
  }
  const handle = (request: Parameters<typeof execute>[0]) => execute(request, executeOptions)
  const server = createHttpServer({
    routes: [
      {
        method: 'POST',
        path: '/v1/face/execute',
        handle,
      },
    ],
    ...serverLimits,
    connectionsMax: 1000,
    connectionsPerAddressMax: 1000,
    bodyBudget: createBodyBudget(bodyBudgetLimits(config)),
    log,
    ...(options.observer && { observer: options.observer }),
  })
  const url = await server.listen('127.0.0.1', Number(process.env['PORT'] ?? 0))
  const key = options.key ?? (await database.createFirstKey()) ?? ''
  const project = await findProject(database.store.db, 'default')
  assert.ok(project)
  return {
    ...createTestClient(url, key),
    database,
    dataDir,
    runCounts: runs,
    project,
    withKey: (other) => createTestClient(url, other),
    [Symbol.asyncDispose]: async () => {
      await server.close()
      await database[Symbol.asyncDispose]()
      if (options.dataDir) return
      await dropDatabase(dataDir)
      await rm(dataDir, { recursive: true, force: true })
    },
  }
}

/** Returns the body of a call of svc.echo. */
export function echoRequest(text: string, requestId?: string, params: object = {}): object {
  return { action: 'svc.echo', params: { text, ...params }, ...(requestId && { requestId }) }
}

/** Sets the budget of the project to exactly the given amount. */
export async function setBudget(
  { database: { store }, project }: TestGate,
  micros: bigint,
): Promise<void> {
  const budget = await findBalance(store.db, budgetLedger(project.projectId))
  await store.write(async (tx) => {
    if (micros > budget.balanceMicros)
      await topUp(tx, project.accountId, micros - budget.balanceMicros, Date.now())
    if (micros !== budget.balanceMicros)
      await allocate(tx, project, micros - budget.balanceMicros, Date.now())
  })
}

export async function budgetMicros({ database, project }: TestGate): Promise<bigint> {
  return (await findBalance(database.store.db, budgetLedger(project.projectId))).balanceMicros
}

/** Returns the rows of the request log, newest first. */
export function callLogRows({ database }: Pick<TestGate, 'database'>): Promise<LoggedCall[]> {
  return findCalls(database.store.db, { limit: 100_000 })
}

/** Creates another project with a budget and a key. */
export async function addProject(gate: TestGate, name: string): Promise<Project & { key: string }> {
  const { db } = gate.database.store
  const { accountId } = gate.project
  const project = await createProject(db, { accountId, name, galleryMode: 'isolated' }, new Date())
  await gate.database.store.write(async (tx) => {
    await topUp(tx, accountId, 1_000_000n, Date.now())
    await allocate(tx, project, 1_000_000n, Date.now())
  })
  return { ...project, key: await addKey(gate, { projectId: project.projectId }) }
}

export async function addKey(
  { database, project }: TestGate,
  overrides: Partial<Parameters<typeof createKey>[1]> = {},
): Promise<string> {
  const { projectId } = project
  const defaults = { projectId, name: 'another', permissions: ['*'], expiresAtUtc: null }
  return (await createKey(database.store.db, { ...defaults, ...overrides }, new Date())).key
}

/** Asserts that the ledger checks L1 to L9 pass. */
export async function assertLedgerAudit({ database }: Pick<TestGate, 'database'>): Promise<void> {
  const checks = await auditLedger(database.store.db, Date.now())
  assert.equal(checks.length, 9)
  assert.deepEqual(
    checks.filter((check) => !check.ok),
    [],
  )
}
