import type { Log } from '../../lib/log.ts'
import type { Store } from '../../store/database.ts'
import type { Tx } from '../../store/tx.ts'
import type { Template } from '../../vision/view.ts'
import type { Calibrations } from '../calibrations.ts'
import type { OpenStored } from '../opener.ts'
import type { SubjectKeys } from '../subject-keys.ts'
import type { Candidate, SearchOptions } from './candidate.ts'

/** What a gallery asks of its search, in memory or in the database: the answers are the same. */
export type GallerySearch = {
  /**
   * The subjects most like the probe among all that is committed, best first, each by its best
   * template of the probe's model.
   */
  readonly search: (
    galleryId: string,
    probe: Template,
    options: SearchOptions,
  ) => Promise<readonly Candidate[]>
  /** Faces that are compared by a model; without one all faces, whatever they are compared by. */
  readonly size: (galleryId: string, modelId?: string) => Promise<number>
  /** Belongs into each transaction that stores a template, after its change of the gallery is counted. */
  readonly remember: (tx: Tx, place: RememberedPlace, template: Template) => Promise<void>
  /** Brings what is held beside the store up to all that is committed at the moment of the call. */
  readonly follow: (galleryId: string) => Promise<void>
  /** What there is to do now and then; ends early when the signal fires. */
  readonly tend: (signal: AbortSignal) => Promise<void>
}

/** Whose template it is. */
export type RememberedPlace = {
  readonly galleryId: string
  readonly subjectId: string
  readonly faceId: string
}

/** What a search works with. */
export type SearchParts = {
  readonly store: Store
  readonly keys: SubjectKeys
  readonly openStored: OpenStored
  readonly calibrations: Calibrations
  readonly log: Pick<Log, 'info' | 'warn' | 'error'>
}

/** Resolves when every template can be found. */
export type OpenGallerySearch = (parts: SearchParts) => Promise<GallerySearch>
