import type { Log } from '../../lib/log.ts'
import type { Store, Tx } from '../../store/database.ts'
import type { Template } from '../../vision/embed/template.ts'
import type { Calibrations } from '../calibration/calibrations.ts'
import type { DecryptStoredTemplate } from '../keys/template-encryption.ts'
import type { SearchCandidate, TimedSearchOptions } from './scored-subject.ts'

/** The search of all galleries. The search in memory and in the database return the same results. */
export type GallerySearch = {
  /**
   * Returns the subjects most similar to the probe among all committed templates, best first. The score
   * of a subject is that of its merged template of the probe's model, see `mergeFaces`.
   */
  readonly search: (
    galleryId: string,
    probe: Template,
    options: TimedSearchOptions,
  ) => Promise<readonly SearchCandidate[]>
  /**
   * Returns the number of all faces and, in the order of the models, of the faces that are compared by
   * each of them. All numbers are of the same moment.
   */
  readonly countFaces: (galleryId: string, modelIds: readonly string[]) => Promise<FaceCounts>
  /**
   * Should be called in each transaction that changes the templates of a subject, with the gallery
   * locked: without its vectors, a search in the database decrypts all templates of the subject.
   */
  readonly storeVectors: (tx: Tx, subject: VectorOwner) => Promise<void>
  /** Applies all changes that were committed before the call. */
  readonly sync: (galleryId: string) => Promise<unknown>
  /**
   * Applies the removals of faces that other processes committed, so that removed templates do not
   * stay in memory until the next search. It is called twice a second.
   */
  readonly applyRemovals: () => Promise<void>
  /** Does the periodic maintenance; stops early if the signal aborts. */
  readonly maintain: (signal: AbortSignal) => Promise<void>
}

export type FaceCounts = { readonly total: number; readonly byModel: readonly number[] }

/** A subject whose templates are searched. */
export type VectorOwner = { readonly galleryId: string; readonly subjectId: string }

/** What every search needs. */
export type SearchDeps = {
  readonly store: Store
  readonly decryptStored: DecryptStoredTemplate
  readonly calibrations: Calibrations
  readonly log: Pick<Log, 'info' | 'warn' | 'error'>
}

/** Resolves when every template can be found. */
export type OpenGallerySearch = (deps: SearchDeps) => Promise<GallerySearch>
