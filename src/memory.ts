import path from 'node:path'
import type { Config } from './config.ts'
import type { Calibrations } from './gallery/calibrations.ts'
import { openGallery, type Gallery } from './gallery/gallery.ts'
import type { Eyes, Remade } from './gallery/remake.ts'
import { replayDeletions } from './gallery/replay-deletions.ts'
import { openExactSearch, type SearchStats } from './gallery/search/exact.ts'
import type { Clock } from './lib/clock.ts'
import type { Log } from './lib/log.ts'
import type { Store } from './store/database.ts'

/**
 * The galleries, their search in threads of its own, the sweep of what is overdue, and the making
 * anew of templates after a change of the model.
 */
export type Memory = AsyncDisposable & {
  readonly gallery: Gallery
  /** Resolves when every stored crop has been seen by the active model, or cannot be. */
  readonly remade: Promise<Remade>
  readonly searchStats: () => SearchStats
}

export type MemoryOptions = {
  readonly store: Store
  readonly calibrations: Calibrations
  readonly eyes: Eyes
  readonly clock: Clock
  readonly log: Log
}

const sweepMs = 60_000

/** Resolves when every gallery is in memory and can be searched. */
export async function openMemory(config: Config, options: MemoryOptions): Promise<Memory> {
  const { store, log, eyes } = options
  if (config.DELETIONS_FILE !== '') {
    const replayed = await replayDeletions(store, config.DELETIONS_FILE)
    if (replayed.entered > 0) log.warn(replayed, 'the database is an older copy: deleted again')
  }
  await using opened = new AsyncDisposableStack()
  const search = opened.use(openExactSearch({ log }))
  const gallery = await openGallery({
    ...options,
    search,
    masterKeyFile: masterKeyFile(config),
    retentionDays: config.RETENTION_DAYS,
    templatesPerSubject: config.SUBJECT_TEMPLATES_MAX,
    templatesPerGallery: config.GALLERY_TEMPLATES_MAX,
  })
  const sweep = (): void => {
    gallery.sweep().then(
      (count) => count > 0 && log.info({ count }, 'subjects whose time was over were deleted'),
      (error: unknown) => log.error({ err: error }, 'the sweep of the galleries failed'),
    )
  }
  const sweeping = setInterval(sweep, sweepMs)
  opened.defer(() => clearInterval(sweeping))
  const ending = new AbortController()
  const remade = gallery.remake(eyes, ending.signal).catch((error: unknown) => {
    log.error({ err: error }, 'templates could not be made anew; the next start goes on with it')
    return { made: 0, failed: 0 }
  })
  opened.defer(async () => {
    ending.abort()
    await remade
  })
  const held = opened.move()
  return {
    gallery,
    remade,
    searchStats: () => search.stats(),
    [Symbol.asyncDispose]: () => held.disposeAsync(),
  }
}

/** Best kept on another disk than the database: a backup of one alone then opens nothing. */
export function masterKeyFile(config: Pick<Config, 'MASTER_KEY_FILE' | 'DATA_DIR'>): string {
  return config.MASTER_KEY_FILE || path.join(config.DATA_DIR, 'master.key')
}
