import { randomInt } from 'node:crypto'
import type { Config } from '../config.ts'
import type { Calibrations } from '../gallery/calibration/calibrations.ts'
import {
  createLivenessSessions,
  type LivenessSessions,
} from '../gallery/liveness/liveness-sessions.ts'
import { type Maintenance, openGallery } from '../gallery/gallery.ts'
import type { ReEmbedVisionClient } from '../gallery/re-embed/re-embed.ts'
import { replayDeletions, undoneMergesAdvice } from '../gallery/deletion/replay-deletions.ts'
import { openDatabaseSearch } from '../gallery/search/database/database-search.ts'
import { openExactSearch } from '../gallery/search/memory/exact-search.ts'
import { openMemorySearch } from '../gallery/search/memory/memory-search.ts'
import { runAsAllAccounts } from '../lib/account-context.ts'
import type { Clock } from '../lib/clock.ts'
import { sweepIntervalMs } from '../lib/limits/sweep-limits.ts'
import type { Log } from '../lib/log.ts'
import { unreachable } from '../lib/validation/unreachable.ts'
import type { Store } from '../store/database.ts'
import { schedule } from './schedule.ts'
import { masterKeyPath, storeLocationOf } from './store-location.ts'
import { openVectorMaintenance } from '../store/postgres/vectors/vector-maintenance.ts'
import { createSubjectExpired } from '../webhooks/subject-expired.ts'

/**
 * The galleries, their search, the periodic sweep of expired subjects, and the re-embedding of stored
 * crops after a change of the recognizer.
 */
export type OpenedGallery = Awaited<ReturnType<typeof openGalleryServices>>

type OpenGalleryOptions = {
  readonly store: Store
  readonly calibrations: Calibrations
  readonly vision: ReEmbedVisionClient
  readonly clock: Clock
  readonly log: Log
}

/** A template that another process removed leaves the memory of this one within a second. */
const removalIntervalMs = 500

/** A calibration that another process applied or reverted is in use within two seconds. */
const calibrationIntervalMs = 1_000

/** Opens the galleries. Resolves when every gallery can be searched. */
export async function openGalleryServices(config: Config, options: OpenGalleryOptions) {
  const { log, vision } = options
  if (config.DELETIONS_FILE !== '') await repeatDeletions(config.DELETIONS_FILE, options)
  await using opened = new AsyncDisposableStack()
  const search = await openConfiguredSearch(config, log, opened)
  const gallery = await runAsAllAccounts(() =>
    openGallery({
      ...options,
      openSearch: search.open,
      masterKeyFile: masterKeyPath(config),
      retentionDays: config.RETENTION_DAYS,
      groupDeletion: {
        subjectsMax: config.GROUP_DELETION_SUBJECTS_MAX,
        durationMsMax: config.CALL_TIMEOUT_MS / 3,
      },
      feedbackMs: config.REPLAY_WINDOW_MS,
      onExpired: createSubjectExpired(config.WEBHOOK_OUTBOX_MAX),
      templatesPerSubject: config.SUBJECT_TEMPLATES_MAX,
      templatesPerGallery: config.GALLERY_TEMPLATES_MAX,
    }),
  )
  const { maintenance } = gallery
  scheduleGalleryJobs(maintenance, options, opened)
  const livenessSessions = openSessions(config, options, opened)
  const closing = new AbortController()
  const reEmbed = () => maintenance.reEmbed(vision, closing.signal)
  const reEmbedding = runAsAllAccounts(reEmbed).catch((error: unknown) => {
    log.error({ err: error }, 're-embedding of stored crops failed; the next start continues it')
    return { succeeded: 0, failed: 0 }
  })
  opened.defer(async () => {
    closing.abort()
    await reEmbedding
  })
  const resources = opened.move()
  return {
    ...gallery,
    livenessSessions,
    /** Resolves when no stored crop is left to embed with the active model. */
    reEmbedding,
    searchStats: search.stats,
    [Symbol.asyncDispose]: () => resources.disposeAsync(),
  }
}

function scheduleGalleryJobs(
  { sweep, maintainSearch, applyRemovals, refreshCalibrations }: Maintenance,
  { log }: OpenGalleryOptions,
  opened: AsyncDisposableStack,
): void {
  const deleteExpired = async (signal: AbortSignal): Promise<void> => {
    const count = await sweep(signal)
    if (count > 0) log.info({ count }, 'expired subjects were deleted')
  }
  const expiry = { intervalMs: sweepIntervalMs, failure: 'the sweep of expired subjects failed' }
  opened.use(schedule(deleteExpired, { ...expiry, isDelayed: true }, log))
  const maintenance = { intervalMs: sweepIntervalMs, failure: 'search maintenance failed' }
  opened.use(schedule(maintainSearch, maintenance, log))
  const removals = { intervalMs: removalIntervalMs, failure: 'removed faces are still in memory' }
  opened.use(schedule(applyRemovals, removals, log))
  const calibrations = {
    intervalMs: calibrationIntervalMs,
    failure: 'calibrations are not current',
  }
  opened.use(schedule(refreshCalibrations, calibrations, log))
}

/** Opens the search in threads of this process or in the database. Both return equal results. */
async function openConfiguredSearch(config: Config, log: Log, opened: AsyncDisposableStack) {
  switch (config.SEARCH) {
    case 'memory': {
      const exact = opened.use(openExactSearch({ log }))
      const load = { location: storeLocationOf(config), masterKeyFile: masterKeyPath(config) }
      return { open: openMemorySearch(exact, load), stats: () => exact.stats() }
    }
    case 'pgvector': {
      const maintenance = opened.use(await openVectorMaintenance(config.DATABASE_URL, { log }))
      const exactMax = config.SEARCH_EXACT_SUBJECTS_MAX
      const open = openDatabaseSearch({ exactMax, maintenance })
      return { open, stats: () => ({ galleries: 0, rows: 0, bytes: 0 }) }
    }
    default:
      return unreachable(config.SEARCH)
  }
}

const sessionSweepIntervalMs = 60_000

/** Opens the liveness sessions, with the periodic sweep of expired ones. */
function openSessions(
  config: Config,
  { store, clock, log }: OpenGalleryOptions,
  opened: AsyncDisposableStack,
): LivenessSessions {
  const sessions = createLivenessSessions({
    store,
    clock,
    masterKeyFile: masterKeyPath(config),
    randomInteger: randomInt,
    failuresPerMinuteMax: config.LIVENESS_FAILURES_PER_MINUTE_MAX,
    openMax: config.LIVENESS_SESSIONS_OPEN_MAX,
    frameBytesMax: config.LIVENESS_FRAMES_BYTES_MAX,
  })
  const sweep = async (): Promise<void> => void (await sessions.sweep())
  const failure = 'the sweep of expired liveness sessions failed'
  opened.use(schedule(sweep, { intervalMs: sessionSweepIntervalMs, failure }, log))
  return sessions
}

/** Deletes the subjects that the records of a file list, before the first call. */
async function repeatDeletions(file: string, { store, log }: OpenGalleryOptions): Promise<void> {
  const replayed = await runAsAllAccounts(() => replayDeletions(store, file))
  const { inserted, undoneMerges, incompleteBytes } = replayed
  if (inserted > 0)
    log.warn(replayed, 'subjects of an older copy of the database were deleted again')
  if (undoneMerges.length > 0) log.warn(replayed, undoneMergesAdvice)
  if (incompleteBytes > 0)
    log.warn(replayed, 'the last line of DELETIONS_FILE is incomplete and was ignored')
}
