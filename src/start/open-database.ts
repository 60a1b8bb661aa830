import { mkdirSync } from 'node:fs'
import { allocate, topUp } from '../billing/ledger.ts'
import type { Config } from '../config.ts'
import { createGate, type Gate, type GateOptions } from '../gate/gate.ts'
import { runAsAllAccounts } from '../lib/account-context.ts'
import { systemClock, type Clock } from '../lib/clock.ts'
import type { Log } from '../lib/log.ts'
import type { Store, StoreOptions } from '../store/database.ts'
import { openStore } from '../store/open-store.ts'
import { storeLocationOf } from './store-location.ts'
import { createInitialProject } from '../store/tenancy/create-initial-project.ts'
import { lockDataDir } from '../store/sqlite/lock-data-dir.ts'

/** The database, and the gate before it. A data folder is held by this process alone. */
export type OpenedDatabase = AsyncDisposable & {
  readonly store: Store
  readonly gate: Gate
  /** The time of day that the service goes by. */
  readonly clock: Clock
  /**
   * Makes the first account, project and key where there are none yet. To be called once somebody
   * can be told: a key that is made and not shown is lost.
   *
   * @returns the key; undefined at every later start.
   */
  readonly createFirstKey: () => Promise<string | undefined>
}

export type OpenDatabaseOptions = StoreOptions & { readonly clock: Clock; readonly log: Log }

const sweepIntervalMs = 5000
const dayMs = 86_400_000

/**
 * Takes the data folder over: what an earlier process left running is released, unbilled. In a
 * database that others are at work on as well, only what is overdue.
 *
 * @throws Error that names the process that holds the folder.
 */
export async function openDatabase(
  config: Config,
  options: OpenDatabaseOptions,
): Promise<OpenedDatabase> {
  const { log } = options
  await using opened = new AsyncDisposableStack()
  mkdirSync(config.DATA_DIR, { recursive: true, mode: 0o700 })
  if (config.DATABASE_URL === '') opened.use(lockDataDir(config.DATA_DIR))
  const store = await openStore(storeLocationOf(config), { ...options, isServer: true })
  opened.defer(() => store.close())
  const clock = databaseClock(store, options.clock)
  const gate = createGate(store, gateOptions(config, store, clock))
  const left = await gate.expireLeftover()
  if (left > 0) log.warn({ left }, 'calls of an earlier process were given up')
  const sweep = (): void => {
    gate.sweep().catch((error: unknown) => log.error({ err: error }, 'a sweep failed'))
  }
  const sweeping = setInterval(sweep, sweepIntervalMs)
  opened.defer(() => clearInterval(sweeping))
  const held = opened.move()
  const begin = () =>
    runAsAllAccounts(() => createFirstProject(store, config.STARTER_CREDIT_MICROS, clock))
  return {
    store,
    gate,
    clock,
    createFirstKey: begin,
    [Symbol.asyncDispose]: () => held.disposeAsync(),
  }
}

/** Several servers go by the one clock of their database: keys expire on all of them at once. */
function databaseClock({ timeOfDay }: Store, given: Clock): Clock {
  return given === systemClock && timeOfDay ? timeOfDay : given
}

/** The first start gives its project something to spend, all or nothing. @returns the first key. */
async function createFirstProject(
  store: Store,
  creditMicros: bigint,
  clock: Clock,
): Promise<string | undefined> {
  return store.runExclusive(async ({ db, tx }) => {
    const first = await createInitialProject(db, new Date(clock()))
    if (first && creditMicros > 0n) {
      await topUp(tx, first.accountId, creditMicros, clock())
      await allocate(tx, first, creditMicros, clock())
    }
    return first?.key
  })
}

function gateOptions(config: Config, { steadyClock }: Store, clock: Clock): GateOptions {
  return {
    clock,
    steadyClock,
    limits: { sustainedPerS: config.RATE_SUSTAINED_PER_S, burst: config.RATE_BURST },
    authThrottleLimits: {
      sustainedPerS: config.AUTH_FAILURES_PER_S,
      burst: config.AUTH_FAILURES_BURST,
    },
    unitMicros: config.UNIT_PRICE_MICROS,
    windowMs: config.REPLAY_WINDOW_MS,
    attemptMsMax: config.CALL_TIMEOUT_MS,
    inFlightWaitMsMax: config.IN_FLIGHT_WAIT_MS_MAX,
    logMsMax: config.LOG_RETENTION_DAYS * dayMs,
  }
}
