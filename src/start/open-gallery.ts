import path from 'node:path'
import type { Config } from '../config.ts'
import type { Calibrations } from '../gallery/calibration/calibrations.ts'
import { openGallery, type Gallery } from '../gallery/gallery.ts'
import type { ReEmbedVisionClient, ReEmbedResult } from '../gallery/re-embed/re-embed.ts'
import { replayDeletions } from '../gallery/deletion/replay-deletions.ts'
import { openDatabaseSearch } from '../gallery/search/database/database-search.ts'
import { openExactSearch, type SearchStats } from '../gallery/search/memory/exact-search.ts'
import type { OpenGallerySearch } from '../gallery/search/gallery-search.ts'
import { openMemorySearch } from '../gallery/search/memory/memory-search.ts'
import { runAsAllAccounts } from '../lib/account-context.ts'
import type { Clock } from '../lib/clock.ts'
import type { Log } from '../lib/log.ts'
import type { Store } from '../store/database.ts'
import { openVectorMaintenance } from '../store/postgres/vectors/vector-maintenance.ts'

/**
 * The galleries, their search in threads of its own or in the database, the sweep of what is overdue,
 * and the making anew of templates after a change of the model.
 */
export type OpenedGallery = AsyncDisposable & {
  readonly gallery: Gallery
  /** Resolves when every stored crop has been seen by the active model, or cannot be. */
  readonly reEmbedding: Promise<ReEmbedResult>
  readonly searchStats: () => SearchStats
}

export type OpenGalleryOptions = {
  readonly store: Store
  readonly calibrations: Calibrations
  readonly vision: ReEmbedVisionClient
  readonly clock: Clock
  readonly log: Log
}

const sweepIntervalMs = 60_000

/** Resolves when every gallery can be searched. */
export async function openGalleryServices(
  config: Config,
  options: OpenGalleryOptions,
): Promise<OpenedGallery> {
  const { store, log, vision: eyes } = options
  if (config.DELETIONS_FILE !== '') {
    const replayed = await runAsAllAccounts(() => replayDeletions(store, config.DELETIONS_FILE))
    if (replayed.inserted > 0) log.warn(replayed, 'the database is an older copy: deleted again')
  }
  await using opened = new AsyncDisposableStack()
  const search = await openConfiguredSearch(config, log, opened)
  const gallery = await runAsAllAccounts(() =>
    openGallery({
      ...options,
      openSearch: search.open,
      masterKeyFile: masterKeyPath(config),
      retentionDays: config.RETENTION_DAYS,
      templatesPerSubject: config.SUBJECT_TEMPLATES_MAX,
      templatesPerGallery: config.GALLERY_TEMPLATES_MAX,
    }),
  )
  const sweep = (): void => {
    runAsAllAccounts(() => gallery.sweep()).then(
      (count) => count > 0 && log.info({ count }, 'subjects whose time was over were deleted'),
      (error: unknown) => log.error({ err: error }, 'the sweep of the galleries failed'),
    )
  }
  const sweeping = setInterval(sweep, sweepIntervalMs)
  opened.defer(() => clearInterval(sweeping))
  opened.use(scheduleMaintenance(gallery, log))
  const ending = new AbortController()
  const reEmbed = () => gallery.reEmbed(eyes, ending.signal)
  const remade = runAsAllAccounts(reEmbed).catch((error: unknown) => {
    log.error({ err: error }, 'templates could not be made anew; the next start goes on with it')
    return { succeeded: 0, failed: 0 }
  })
  opened.defer(async () => {
    ending.abort()
    await remade
  })
  const held = opened.move()
  return {
    gallery,
    reEmbedding: remade,
    searchStats: search.stats,
    [Symbol.asyncDispose]: () => held.disposeAsync(),
  }
}

/** In the threads of this process, or in the database: the answers are the same. */
async function openConfiguredSearch(
  config: Config,
  log: Log,
  opened: AsyncDisposableStack,
): Promise<{ readonly open: OpenGallerySearch; readonly stats: () => SearchStats }> {
  if (config.SEARCH === 'memory') {
    const exact = opened.use(openExactSearch({ log }))
    return { open: openMemorySearch(exact), stats: () => exact.stats() }
  }
  const upkeep = opened.use(await openVectorMaintenance(config.DATABASE_URL, { log }))
  const isRotated = config.SEARCH_ROTATE === 'on'
  const open = openDatabaseSearch({
    isRotated,
    exactMax: config.SEARCH_EXACT_TEMPLATES_MAX,
    maintenance: upkeep,
  })
  return { open, stats: () => ({ galleries: 0, rows: 0, bytes: 0 }) }
}

/** Looks after the search at once and every minute, never twice at a time. */
function scheduleMaintenance(gallery: Gallery, log: Log): AsyncDisposable {
  const ending = new AbortController()
  let running: Promise<void> | undefined
  const failed = (error: unknown): void => {
    if (!ending.signal.aborted) log.error({ err: error }, 'the search could not be looked after')
  }
  const tend = (): void => {
    running ??= runAsAllAccounts(() => gallery.maintain(ending.signal))
      .catch(failed)
      .finally(() => (running = undefined))
  }
  tend()
  const tending = setInterval(tend, sweepIntervalMs)
  return {
    [Symbol.asyncDispose]: async () => {
      clearInterval(tending)
      ending.abort()
      await running
    },
  }
}

/** Best kept on another disk than the database: a backup of one alone then opens nothing. */
export function masterKeyPath(config: Pick<Config, 'MASTER_KEY_FILE' | 'DATA_DIR'>): string {
  return config.MASTER_KEY_FILE || path.join(config.DATA_DIR, 'master.key')
}
