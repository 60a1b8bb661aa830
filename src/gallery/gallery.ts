import type { Clock } from '../lib/clock.ts'
import type { Log } from '../lib/log.ts'
import type { Store } from '../store/database.ts'
import { openGalleryCalibrations, type Calibrations } from './calibration/calibrations.ts'
import type { EnrollLimits } from './enrollment.ts'
import { createDecryptStoredTemplate } from './keys/decrypt-stored-template.ts'
import { openKeys } from './keys/open-keys.ts'
import { createSubjectKeys } from './keys/subject-keys.ts'
import { createMaintenance, type Maintenance } from './maintenance.ts'
import { createMatching, type Matching } from './matching.ts'
import { createReEmbed } from './re-embed/re-embed.ts'
import type { OpenGallerySearch } from './search/gallery-search.ts'
import { createSubjects, type Subjects } from './subjects.ts'
import type { OnExpiredDeleted } from './unexpired-subjects.ts'

/** The galleries of all projects. */
export type Gallery = {
  readonly subjects: Subjects
  readonly matching: Matching
  readonly maintenance: Maintenance
}

export type GalleryOptions = EnrollLimits & {
  readonly store: Store
  readonly openSearch: OpenGallerySearch
  readonly calibrations: Calibrations
  readonly masterKeyFile: string
  /** For projects without a configured retention. */
  readonly retentionDays: number
  /** The most subjects that one call of `removeGroup` deletes. */
  readonly groupDeletionMax: number
  /** Called in the transaction that deletes a subject because of its expiry or the retention. */
  readonly onExpired?: OnExpiredDeleted
  readonly clock: Clock
  readonly log: Pick<Log, 'info' | 'warn' | 'error'>
}

/**
 * Opens the galleries and their search. The first start creates the master key.
 *
 * @throws Error if others may read the master key file, or if the database was written with a
 *   different master key.
 */
export async function openGallery(options: GalleryOptions): Promise<Gallery> {
  const { store, openSearch, calibrations, clock, log } = options
  const keys = createSubjectKeys(await openKeys(options), clock)
  const decryptStored = createDecryptStoredTemplate(keys, log)
  const search = await openSearch({ store, decryptStored, calibrations, log })
  const tables = await openGalleryCalibrations({ store, calibrations, log })
  const purgeDue = new Set<string>()
  const onExpired: OnExpiredDeleted = async (tx, subject, nowUtc) => {
    purgeDue.add(subject.galleryId)
    await options.onExpired?.(tx, subject, nowUtc)
  }
  const subjects = createSubjects({ ...options, keys, search, onExpired })
  const maintenance = createMaintenance({
    ...options,
    search,
    remove: subjects.remove,
    purgeDue,
    refreshCalibrations: tables.refresh,
    reEmbed: createReEmbed({ store, keys, decryptStored, calibrations, search, log }),
  })
  const matching = createMatching({ ...options, search, decryptStored, calibrationsOf: tables.of })
  return { subjects, matching, maintenance }
}
