import type { Log } from '../../lib/log.ts'
import type { Store } from '../../store/database.ts'
import type { Tx } from '../../store/tx.ts'
import type { Template } from '../../vision/embed/template.ts'
import type { Calibrations } from '../calibration/calibrations.ts'
import type { DecryptStoredTemplate } from '../keys/decrypt-stored-template.ts'
import type { ScoredSubject, TimedSearchOptions } from './scored-subject.ts'

/** The search of all galleries. The search in memory and in the database return the same results. */
export type GallerySearch = {
  /**
   * Returns the subjects most similar to the probe among all committed templates, best first. Each
   * subject has the score of its best template of the probe's model.
   */
  readonly search: (
    galleryId: string,
    probe: Template,
    options: TimedSearchOptions,
  ) => Promise<readonly ScoredSubject[]>
  /**
   * Returns the number of all faces and, in the order of the models, of the faces that are compared by
   * each of them. All numbers are of the same moment.
   */
  readonly countFaces: (galleryId: string, modelIds: readonly string[]) => Promise<FaceCounts>
  /** Must be called in each transaction that stores a template, with the gallery locked. */
  readonly storeVector: (tx: Tx, owner: VectorOwner, template: Template) => Promise<void>
  /** Applies all changes that were committed before the call. */
  readonly sync: (galleryId: string) => Promise<void>
  /**
   * Applies the removals of faces that other processes committed, so that removed templates do not
   * stay in memory until the next search. It is called twice a second.
   */
  readonly applyRemovals: () => Promise<void>
  /** Does the periodic maintenance; stops early if the signal aborts. */
  readonly maintain: (signal: AbortSignal) => Promise<void>
}

export type FaceCounts = { readonly total: number; readonly byModel: readonly number[] }

/** The face that a template was extracted from. */
export type VectorOwner = {
  readonly galleryId: string
  readonly subjectId: string
  readonly faceId: string
}

/** What every search needs. */
export type SearchDeps = {
  readonly store: Store
  readonly decryptStored: DecryptStoredTemplate
  readonly calibrations: Calibrations
  readonly log: Pick<Log, 'info' | 'warn' | 'error'>
}

/** Resolves when every template can be found. */
export type OpenGallerySearch = (deps: SearchDeps) => Promise<GallerySearch>
