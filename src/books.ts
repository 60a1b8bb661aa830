import { mkdirSync } from 'node:fs'
import { allocate, topUp } from './billing/ledger.ts'
import type { Config } from './config.ts'
import { createGate, type Gate, type GateOptions } from './gate/gate.ts'
import { systemClock, type Clock } from './lib/clock.ts'
import type { Log } from './lib/log.ts'
import { openStore, placeOf, type Store, type StoreOptions } from './store/database.ts'
import { firstStart } from './store/first-start.ts'
import { lockFolder } from './store/sqlite/lock.ts'

/** The database, and the gate before it. A data folder is held by this process alone. */
export type Books = AsyncDisposable & {
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
  readonly begin: () => Promise<string | undefined>
}

export type BooksOptions = StoreOptions & { readonly clock: Clock; readonly log: Log }

const sweepMs = 5000
const dayMs = 86_400_000

/**
 * Takes the data folder over: what an earlier process left running is released, unbilled. In a
 * database that others are at work on as well, only what is overdue.
 *
 * @throws Error that names the process that holds the folder.
 */
export async function openBooks(config: Config, options: BooksOptions): Promise<Books> {
  const { log } = options
  await using opened = new AsyncDisposableStack()
  mkdirSync(config.DATA_DIR, { recursive: true, mode: 0o700 })
  if (config.DATABASE_URL === '') opened.use(lockFolder(config.DATA_DIR))
  const store = await openStore(placeOf(config), { ...options, isServer: true })
  opened.defer(() => store.close())
  const clock = clockOf(store, options.clock)
  const gate = createGate(store, gateOptions(config, store, clock))
  const left = await gate.takeOver()
  if (left > 0) log.warn({ left }, 'calls of an earlier process were given up')
  const sweep = (): void => {
    gate.sweep().catch((error: unknown) => log.error({ err: error }, 'a sweep failed'))
  }
  const sweeping = setInterval(sweep, sweepMs)
  opened.defer(() => clearInterval(sweeping))
  const held = opened.move()
  const begin = () => fund(store, config.STARTER_CREDIT_MICROS, clock)
  return { store, gate, clock, begin, [Symbol.asyncDispose]: () => held.disposeAsync() }
}

/** Several servers go by the one clock of their database: keys expire on all of them at once. */
function clockOf({ timeOfDay }: Store, given: Clock): Clock {
  return given === systemClock && timeOfDay ? timeOfDay : given
}

/** The first start gives its project something to spend, all or nothing. @returns the first key. */
async function fund(store: Store, creditMicros: bigint, clock: Clock): Promise<string | undefined> {
  return store.change(async ({ db, tx }) => {
    const first = await firstStart(db, new Date(clock()))
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
    strangerLimits: { sustainedPerS: config.WRONG_KEYS_PER_S, burst: config.WRONG_KEYS_BURST },
    unitMicros: config.UNIT_PRICE_MICROS,
    windowMs: config.REPLAY_WINDOW_MS,
    attemptMsMax: config.ATTEMPT_MS_MAX,
    twinMsMax: config.TWIN_WAIT_MS_MAX,
    logMsMax: config.LOG_RETENTION_DAYS * dayMs,
  }
}
