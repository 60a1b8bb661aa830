import { withSpan } from '../lib/observability/call-trace.ts'
import type { SubjectRow } from '../store/gallery-schema.ts'
import type { ReadTx } from '../store/tx.ts'
import type { Template } from '../vision/embed/template.ts'
import type { Calibrations, CalibrationSource } from './calibration/calibrations.ts'
import type { DecryptStoredTemplate } from './keys/decrypt-stored-template.ts'
import { matchChangedSince, type ChangedSinceQuery } from './match-changed-since.ts'
import { matchSubject, matchTemplates, type MatchScore, type SubjectMatch } from './match.ts'
import type { GallerySearch } from './search/gallery-search.ts'
import type { SearchOptions } from './search/scored-subject.ts'
import { searchAcrossModels, type SearchHit } from './search/search-across-models.ts'

/** The operations that return similarities. All of them use the same calibrations. */
export type MatchOperations = {
  /** Returns the subjects most similar to the probe among all committed templates, best first. */
  readonly search: (
    galleryId: string,
    probes: readonly Template[],
    options: SearchOptions,
  ) => Promise<SearchHit[]>
  /** Matches the probe with all faces that have changed since a search. */
  readonly matchChangedSince: (reading: ReadTx, since: ChangedSinceQuery) => Promise<SearchHit[]>
  /**
   * Returns the match of the subject's face that is most similar to the probe, or undefined if none
   * can be compared.
   *
   * @param probes templates of the probe, one per model.
   */
  readonly matchSubject: (
    reading: ReadTx,
    subject: SubjectRow,
    probes: readonly Template[],
  ) => Promise<SubjectMatch | undefined>
  readonly compare: (a: Template, b: Template) => MatchScore
  /**
   * Returns `gallery` if the similarities of all these models come from tables that were measured on
   * the gallery, otherwise `model`.
   */
  readonly calibrationSource: (modelIds: readonly string[]) => CalibrationSource
}

type MatchOperationsOptions = {
  readonly search: GallerySearch
  readonly decryptStored: DecryptStoredTemplate
  readonly clock: () => number
  readonly nowUtc: () => string
}

/** Returns the operations with these calibrations. */
export function matchOperations(
  { search, decryptStored, clock, nowUtc }: MatchOperationsOptions,
  calibrations: Calibrations,
): MatchOperations {
  const matchOptions = { decryptStored, calibrations }
  return {
    search: (galleryId, probes, searchOptions) =>
      withSpan('gallery.search', () =>
        searchAcrossModels({ search, calibrations }, galleryId, probes, {
          ...searchOptions,
          nowMs: clock(),
        }),
      ),
    matchChangedSince: (reading, since) =>
      matchChangedSince(reading, since, { ...matchOptions, nowUtc: nowUtc() }),
    matchSubject: (reading, subject, probes) =>
      matchSubject(reading, subject, probes, matchOptions),
    compare: (a, b) => matchTemplates(a, b, calibrations),
    calibrationSource: (modelIds) =>
      modelIds.length > 0 && modelIds.every((id) => calibrations.sourceOf(id) === 'gallery')
        ? 'gallery'
        : 'model',
  }
}
