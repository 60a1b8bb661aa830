import type { Log } from '../../lib/log.ts'
import type { Store } from '../../store/database.ts'
import type { Tx } from '../../store/tx.ts'
import type { Template } from '../../vision/image-analysis.ts'
import type { Calibrations } from '../calibration/calibrations.ts'
import type { DecryptStoredTemplate } from '../keys/decrypt-stored-template.ts'
import type { SubjectKeys } from '../keys/subject-keys.ts'
import type { ScoredSubject, SearchOptions } from './scored-subject.ts'

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
  ) => Promise<readonly ScoredSubject[]>
  /** Faces that are compared by a model; without one all faces, whatever they are compared by. */
  readonly size: (galleryId: string, modelId?: string) => Promise<number>
  /** Belongs into each transaction that stores a template, which holds the gallery alone. */
  readonly storeVector: (tx: Tx, place: VectorOwner, template: Template) => Promise<void>
  /** Brings what is held beside the store up to all that is committed at the moment of the call. */
  readonly sync: (galleryId: string) => Promise<void>
  /** What there is to do now and then; ends early when the signal fires. */
  readonly maintain: (signal: AbortSignal) => Promise<void>
}

/** Whose template it is, and the gallery's key that wraps the subject's. */
export type VectorOwner = {
  readonly galleryId: string
  readonly subjectId: string
  readonly faceId: string
  readonly keyId: string
}

/** What a search works with. */
export type SearchDeps = {
  readonly store: Store
  readonly keys: SubjectKeys
  readonly decryptStored: DecryptStoredTemplate
  readonly calibrations: Calibrations
  readonly log: Pick<Log, 'info' | 'warn' | 'error'>
}

/** Resolves when every template can be found. */
export type OpenGallerySearch = (parts: SearchDeps) => Promise<GallerySearch>
