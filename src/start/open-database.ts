import { mkdirSync, statSync } from 'node:fs'
import path from 'node:path'
import { allocate, topUp } from '../billing/ledger.ts'
import type { Config } from '../config.ts'
import { type GateOptions, createGate } from '../gate/gate.ts'
import { runAsAllAccounts } from '../lib/account-context.ts'
import { type Clock, dayMs, systemClock } from '../lib/clock.ts'
import type { Log } from '../lib/log.ts'
import type { Store, StoreOptions } from '../store/database.ts'
import { openStore } from '../store/open-store.ts'
import { lockDataDir } from '../store/sqlite/open-sqlite-store.ts'
import { createInitialProject } from '../store/tenancy/create-initial-project.ts'
import { schedule } from './schedule.ts'
import { masterKeyPath, storeLocationOf } from './store-location.ts'

/** The database and the gate. This process holds the data folder exclusively. */
export type OpenedDatabase = Awaited<ReturnType<typeof startDatabase>>

export type OpenDatabaseOptions = StoreOptions & {
  readonly clock: Clock
  readonly log: Log
}

/** A database that this process uses as a server. Disposing it also releases the data folder. */
export type ServerStore = AsyncDisposable & { readonly store: Store }

const sweepIntervalMs = 5000

/** Locks the data folder, opens the database and starts its gate. @throws as `openServerStore`. */
export async function openDatabase(config: Config, options: OpenDatabaseOptions) {
  const serverStore = await openServerStore(config, options)
  reportStorageRisks(config, options.log)
  return startDatabase(config, options, serverStore)
}

/**
 * Locks the data folder and opens the database.
 *
 * @throws Error that names the process that holds the folder.
 */
export async function openServerStore(config: Config, options: StoreOptions): Promise<ServerStore> {
  await using opened = new AsyncDisposableStack()
  try {
    mkdirSync(config.DATA_DIR, { recursive: true, mode: 0o700 })
  } catch (cause) {
    const rule = 'must be a folder that this user may write, on a file system that is not read-only'
    throw new Error(`DATA_DIR=${config.DATA_DIR} ${rule}; set another one`, { cause })
  }
  if (config.DATABASE_URL === '') opened.use(lockDataDir(config.DATA_DIR))
  const hasGalleries = config.SEARCH === 'memory'
  const storeOptions = { ...options, isServer: true, hasGalleries }
  const store = await openStore(storeLocationOf(config), storeOptions)
  opened.defer(() => store.close())
  const resources = opened.move()
  return { store, [Symbol.asyncDispose]: () => resources.disposeAsync() }
}

/**
 * Opens the gate of a database and starts the periodic sweep of expired calls.
 *
 * Releases the calls of an earlier process without a charge. In a database that other servers use,
 * only expired calls are released.
 *
 * @param serverStore is closed with the result, or if this function fails.
 */
export async function startDatabase(
  config: Config,
  options: Pick<OpenDatabaseOptions, 'clock' | 'log'>,
  serverStore: ServerStore,
) {
  const { log } = options
  await using opened = new AsyncDisposableStack()
  const { store } = opened.use(serverStore)
  // Several servers use the clock of their database, so that a key expires on all at the same time.
  const clock = options.clock === systemClock ? (store.timeOfDay ?? systemClock) : options.clock
  const gate = createGate(store, gateOptions(config, store, clock))
  const expired = await gate.expireLeftover()
  if (expired > 0) log.warn({ expired }, 'expired calls left by a previous process')
  const sweeping = { intervalMs: sweepIntervalMs, failure: 'the sweep of expired calls failed' }
  opened.use(schedule(gate.sweep, { ...sweeping, isDelayed: true }, log))
  const resources = opened.move()
  return {
    store,
    gate,
    /** The clock of the service. */
    clock,
    /**
     * Creates the first account, project and API key if the database has none. Call it only when
     * the key can be shown: it cannot be read again.
     *
     * Returns the key, or undefined at later starts.
     */
    createFirstKey: () =>
      runAsAllAccounts(() => createFirstProject(store, config.STARTER_CREDIT_MICROS, clock)),
    [Symbol.asyncDispose]: () => resources.disposeAsync(),
  }
}

/** Creates the first project with its starting budget, in one transaction. Returns its API key. */
async function createFirstProject(store: Store, creditMicros: bigint, clock: Clock) {
  return store.runExclusive(async ({ db, tx }) => {
    const project = await createInitialProject(db, new Date(clock()))
    if (project && creditMicros > 0n) {
      await topUp(tx, project.accountId, creditMicros, clock())
      await allocate(tx, project, creditMicros, clock())
    }
    return project?.key
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
    storedBytesMax: config.REPLAY_BYTES_MAX,
    attemptMsMax: config.CALL_TIMEOUT_MS,
    inFlightWaitMsMax: config.IN_FLIGHT_WAIT_MS_MAX,
    logMsMax: config.LOG_RETENTION_DAYS * dayMs,
    outboxMax: config.WEBHOOK_OUTBOX_MAX,
    bearerKeys: config.BEARER_KEYS === 'on',
  }
}

/** The bits of a folder's mode: its files can be deleted by all users, or only by their owners. */
const writableByOthers = 0o002
const sticky = 0o1000

type RiskLog = Readonly<Record<'info' | 'warn', (fields: object, text: string) => void>>

/**
 * Logs a master key in the folder of the database, and the folders of both that all users may write.
 * Such folders do not prevent the start: their files are private, and volumes of containers often have
 * this mode.
 */
export function reportStorageRisks(config: Config, log: RiskLog): void {
  const masterKeyFile = path.resolve(masterKeyPath(config))
  const keyFolder = path.dirname(masterKeyFile)
  const dataFolder = config.DATABASE_URL === '' ? path.resolve(config.DATA_DIR) : keyFolder
  if (config.DATABASE_URL === '' && keyFolder === dataFolder)
    log.info(
      { masterKeyFile },
      'the master key is beside the database: a copy of the folder contains both; see MASTER_KEY_FILE',
    )
  for (const folder of new Set([dataFolder, keyFolder]))
    if (isWritableByOthers(folder))
      log.warn({ folder }, `others may replace the files of this folder: run chmod 700 ${folder}`)
}

function isWritableByOthers(folder: string): boolean {
  const mode = statSync(folder, { throwIfNoEntry: false })?.mode ?? 0
  return process.platform !== 'win32' && (mode & (writableByOthers | sticky)) === writableByOthers
}
