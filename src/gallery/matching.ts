import { dayOf, formatUtc, type Clock } from '../lib/clock.ts'
import { withSpan } from '../lib/observability/call-trace.ts'
import { mapSequential } from '../lib/account-context.ts'
import type { ReadTx, Store, Tx } from '../store/database.ts'
import { countUnexpiredSubjects, findExpiredTemplates } from '../store/gallery/expired-subjects.ts'
import { findGallery } from '../store/gallery/galleries.ts'
import { countMatches } from '../store/gallery/feedback/match-days.ts'
import { touchSubjects } from '../store/gallery/subjects.ts'
import type { SubjectRow } from '../store/gallery-schema.ts'
import { findIdentifyThreshold } from '../store/tenancy/projects.ts'
import type { KeyIdentity } from '../store/tenancy/keys.ts'
import type { Template } from '../vision/embed/template.ts'
import type { Calibrations, CalibrationSource } from './calibration/calibrations.ts'
import { type ComparedMatch, lowerDenied, lowerDeniedHits } from './feedback/denied-faces.ts'
import { autoThreshold, roundSimilarity, similarityOfScore } from './calibration/similarity.ts'
import type { DecryptStoredTemplate } from './keys/template-encryption.ts'
import {
  type ChangedSinceQuery,
  type MatchScore,
  type SearchHit,
  matchChangedSince,
  matchSubject,
  matchTemplates,
  modelsOfSubject,
  selectTemplates,
} from './match.ts'
import type { GallerySearch } from './search/gallery-search.ts'
import type { SearchOptions, TimedSearchOptions } from './search/scored-subject.ts'
import { createReadStoredFaces } from './enrollment.ts'

/** Searches and comparisons of faces. All similarities of one record use the same calibrations. */
export type Matching = ReturnType<typeof comparisons> &
  ReturnType<typeof otherOperations> & {
    /**
     * Returns the same operations with the calibration tables that the gallery uses now; without this,
     * they use the tables of the models. A call uses one result throughout.
     */
    readonly calibratedFor: (galleryId: string) => Matching
  }

type MatchingOptions = {
  readonly store: Pick<Store, 'read'>
  readonly search: GallerySearch
  readonly decryptStored: DecryptStoredTemplate
  /** The tables of the models. */
  readonly calibrations: Calibrations
  /** Returns the tables that a gallery uses now. */
  readonly calibrationsOf: (galleryId: string) => Calibrations
  readonly clock: Clock
}

export function createMatching(options: MatchingOptions): Matching {
  const others = otherOperations(options)
  const withTables = (tables: Calibrations): Matching => ({
    calibratedFor: (galleryId) => withTables(options.calibrationsOf(galleryId)),
    ...comparisons(options, tables),
    ...others,
  })
  return withTables(options.calibrations)
}

/** Returns the operations whose result is a similarity, with these tables. */
function comparisons(
  { store, search, decryptStored, clock }: MatchingOptions,
  calibrations: Calibrations,
) {
  const matchOptions = { decryptStored, calibrations }
  return {
    /** Returns the subjects most similar to the probe among all committed templates, best first. */
    search: (galleryId: string, probes: readonly Template[], searchOptions: SearchOptions) =>
      withSpan('gallery.search', () =>
        searchAcrossModels({ search, calibrations }, galleryId, probes, {
          ...searchOptions,
          nowMs: clock(),
        }),
      ),
    /** Matches faces with all subjects that have changed since a search. @returns the hits of each. */
    matchChangedSince: (reading: ReadTx, since: ChangedSinceQuery) =>
      matchChangedSince(reading, since, { ...matchOptions, nowUtc: formatUtc(clock()) }),
    /**
     * Returns the match of the subject, with its face that is most similar to the probe, or undefined
     * if none can be compared. The similarity is that of a search.
     *
     * @param probes templates of the probe, one per model.
     */
    matchSubject: (reading: ReadTx, subject: SubjectRow, probes: readonly Template[]) =>
      matchSubject(reading, subject, probes, matchOptions),
    compare: (a: Template, b: Template) => matchTemplates(a, b, calibrations),
    /** Returns a match of the subject, with half of its similarity if the face was denied before. */
    lowerDenied: <Match extends MatchScore>(
      reading: ReadTx,
      subject: Pick<SubjectRow, 'subjectId' | 'hasDenials'>,
      scored: ComparedMatch<Match>,
    ) => lowerDenied(reading, subject, scored, matchOptions),
    /** Does the same for the hits of faces, before the call is settled: see `lowerDeniedHits`. */
    lowerDeniedHits: (faces: Parameters<typeof lowerDeniedHits<SearchHit>>[1]) =>
      lowerDeniedHits(store.read, faces, matchOptions),
    /**
     * Returns `gallery` if the similarities of all these models come from tables that were measured on
     * the gallery. Otherwise `pictures` if one of them comes from such a table, else `model`.
     */
    calibrationSource: (modelIds: readonly string[]): CalibrationSource => {
      const sources = modelIds.map((id) => calibrations.sourceOf(id))
      if (sources.includes('pictures')) return 'pictures'
      return sources.length > 0 && sources.every((source) => source === 'gallery')
        ? 'gallery'
        : 'model'
    },
  }
}

/** Returns the operations that are the same with all tables. */
function otherOperations(options: MatchingOptions) {
  const { store, search, decryptStored, calibrations, clock } = options
  const { activeModelId, formerModelIds } = calibrations
  const nowUtc = (): string => formatUtc(clock())
  /**
   * Returns the former models by which faces of the gallery are compared. The probe also needs a
   * template of each of them, or those faces are missed.
   */
  const formerModels = async (galleryId: string): Promise<readonly string[]> => {
    if (formerModelIds.length === 0) return []
    const { byModel } = await search.countFaces(galleryId, formerModelIds)
    return formerModelIds.filter((_, index) => (byModel[index] ?? 0) > 0)
  }
  const { read } = store
  return {
    formerModels,
    /** The same for the faces of one subject, and whether any is compared by the active model. */
    modelsOf: async (reading: ReadTx, { subjectId }: SubjectRow) => {
      const used = await modelsOfSubject(reading, subjectId, calibrations)
      const former = formerModelIds.filter((modelId) => used.includes(modelId))
      return { former, hasActive: used.includes(activeModelId) }
    },
    /** Counts the faces that can be compared with templates of these models, and the others. */
    countComparable: async (galleryId: string, modelIds: readonly string[]) => {
      const { total, byModel } = await search.countFaces(galleryId, modelIds)
      const count = byModel.reduce((sum, modelCount) => sum + modelCount, 0)
      // All faces can be compared, as long as the model was not changed.
      if (count === total) return { count, otherCount: 0 }
      const expired = await countExpired(galleryId, modelIds, options)
      return {
        count: Math.max(0, count - expired.count),
        otherCount: Math.max(0, total - count - expired.otherCount),
      }
    },
    /** Returns the number of the gallery's last change. All later searches include it. */
    sequence: async (reading: ReadTx, galleryId: string): Promise<number> =>
      (await findGallery(reading, galleryId))?.sequence ?? 0,
    /** Returns the size of a gallery and the threshold of a search in it. */
    searchThreshold: (reading: ReadTx, request: ThresholdRequest) =>
      searchThreshold(reading, request, nowUtc()),
    readStoredFaces: createReadStoredFaces({ read, decryptStored, calibrations, formerModels }),
    /** Records activity of matched subjects, and counts the call for each if the project does. */
    recordMatches: async (tx: Tx, caller: MatchCaller, subjectIds: readonly string[]) => {
      const { projectId, switches } = caller
      const seenAtUtc = nowUtc()
      // PostgreSQL receives both statements in one round trip.
      await Promise.all([
        touchSubjects(tx, subjectIds, seenAtUtc),
        switches.matchDays && countMatches(tx, { projectId, subjectIds, day: dayOf(seenAtUtc) }),
      ])
    },
  }
}

type MatchCaller = Pick<KeyIdentity, 'projectId' | 'switches'>

/** The sizes of the search include expired subjects until they are deleted. */
async function countExpired(
  galleryId: string,
  modelIds: readonly string[],
  { store, calibrations, clock }: MatchingOptions,
) {
  const filter = { galleryId, nowUtc: formatUtc(clock()) }
  const templates = await store.read((reading) => findExpiredTemplates(reading, filter))
  const compared = selectTemplates(templates, calibrations)
  const count = compared.filter(({ modelId }) => modelIds.includes(modelId)).length
  return { count, otherCount: compared.length - count }
}

type ThresholdRequest = {
  readonly galleryId: string
  readonly projectId: string
  /** The threshold of the request; undefined if it has none. */
  readonly requested: number | 'auto' | undefined
}

/** The threshold is that of the request, else that of the project, else `auto`. */
async function searchThreshold(
  reading: ReadTx,
  { galleryId, projectId, requested }: ThresholdRequest,
  nowUtc: string,
) {
  const gallerySize = await countUnexpiredSubjects(reading, { galleryId, nowUtc })
  const found = (threshold: number, thresholdSource: 'request' | 'project' | 'auto') => {
    return { gallerySize, threshold, thresholdSource }
  }
  if (typeof requested === 'number') return found(requested, 'request')
  const ofProject = requested === 'auto' ? null : await findIdentifyThreshold(reading, projectId)
  return ofProject === null
    ? found(autoThreshold(gallerySize), 'auto')
    : found(ofProject, 'project')
}

/**
 * Searches a gallery with each template of the probe among the templates of the same model. Returns
 * the most similar subjects, best first, each once. The results are merged by similarity, because
 * scores of different models cannot be compared.
 *
 * The models are searched one after another, the last former model first and the active one last.
 * Templates that are replaced meanwhile only move towards the active model, so no search misses them.
 *
 * @param probes templates of the probe, one per model.
 */
async function searchAcrossModels(
  { search, calibrations }: { readonly search: GallerySearch; readonly calibrations: Calibrations },
  galleryId: string,
  probes: readonly Template[],
  options: TimedSearchOptions,
): Promise<SearchHit[]> {
  const lastFirst = await mapSequential(probes.toReversed(), async (probe) => {
    const { modelId } = probe
    const calibration = calibrations.of(modelId)
    if (!calibration) throw new Error(`there is no calibration for templates of ${modelId}`)
    const candidates = await search.search(galleryId, probe, options)
    return candidates.map((candidate): SearchHit => {
      const { faceId, subjectId, score, mayBeDenied } = candidate
      const similarity = roundSimilarity(similarityOfScore(candidate, calibration))
      return { faceId, subjectId, score, similarity, modelId, mayBeDenied }
    })
  })
  return mergeHits(lastFirst.toReversed().flat(), options.limit)
}

/** The sort is stable: hits of one model with equal similarity keep their order by score. */
function mergeHits(hits: readonly SearchHit[], limit: number): SearchHit[] {
  const best = new Map<string, SearchHit>()
  for (const hit of hits.toSorted((a, b) => b.similarity - a.similarity))
    if (!best.has(hit.subjectId)) best.set(hit.subjectId, hit)
  return [...best.values()].slice(0, limit)
}
