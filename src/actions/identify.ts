import type { z } from 'zod'
import { ActionError } from '../lib/errors.ts'
import { mapSequential } from '../lib/account-context.ts'
import type { Tx } from '../store/database.ts'
import { defineAction, type ActionCall, type ItemOutcome, type ItemOutcomes } from './action.ts'
import { comparisonErrors } from './parts/action-errors.ts'
import { searchDecision } from './parts/call-decisions.ts'
import {
  matchEvents,
  loadHitSubjects,
  splitAtThreshold,
  type HitSubjects,
  type ThresholdSplit,
  countIncomparable,
  callCandidatesMax,
  fewerCandidates,
  findUnknownGroups,
  isStoredSearch,
  searchFacts,
  searchProbe,
  toCandidates,
  unknownGroupWarnings,
} from './parts/search/candidates.ts'
import { storeMatches } from './parts/search/decided-matches.ts'
import { storeNearestFace } from './parts/search/near-misses.ts'
import { isAmbiguous } from './parts/search/ambiguity.ts'
import { assignSubjects } from './parts/search/assign-subjects.ts'
import {
  debugInfo,
  toFaceValue,
  toImageFacts,
  toWarnings,
  zeroThreshold,
} from './parts/response-fields.ts'
import { extractProbes, reserveImages, type ExtractedProbes } from './parts/extract-probes.ts'
import { extractMergedProbe, requireFrames } from './parts/pictures/merge-frames.ts'
import {
  recordVisits,
  searchExtractOptions,
  searchVisitors,
  unmatchedEvents,
  type SearchedFace,
  type VisitorSearch,
} from './parts/search/unknown-faces.ts'
import { identifyStored } from './parts/search/identify-stored.ts'
import examples from './schemas/examples.json' with { type: 'json' }
import { identifyParams, identifyValue, pictureFields } from './schemas/identify.ts'

type IdentifyParams = z.output<typeof identifyParams>
type IdentifyCall = ActionCall<
  IdentifyParams & { readonly images: NonNullable<IdentifyParams['images']> }
>
type IdentifyResult = z.input<typeof identifyValue>

/** Searches for the people of an image, or for a stored face. Only `debug` returns subjects below the threshold. */
export const identify = defineAction({
  name: 'svc.identify',
  summary: 'Search the gallery for the faces of up to ten images, or for a stored face.',
  // A search for a stored face has no images and costs as much as one image.
  price: (imageCount) => 2 * Math.max(1, imageCount),
  params: identifyParams,
  sessionImage: 'only',
  resultPerImage: 'always',
  analyzesAllImages: true,
  value: identifyValue,
  errors: ['GROUP_NOT_FOUND', 'SUBJECT_NOT_FOUND', ...comparisonErrors],
  example: examples['svc.identify'],
  scrub: (value) => ({
    ...value,
    bestMatch: null,
    warnings: undefined, // they can contain names of groups
    faces: value.faces.map((face) => ({ ...face, candidates: [], visitorId: undefined })),
    ...(value.candidates && { candidates: [] }),
    ...(value.probe && { probe: { ...value.probe, faceIds: [] } }),
    debug: value.debug && { ...value.debug, candidatesBelowThreshold: undefined },
  }),
  // A face without a match has no similarity in the response, so the charts do not count it.
  scores: ({ faces, candidates = [] }) =>
    [...faces, { matched: candidates.length > 0, candidates }].flatMap(
      ({ matched, candidates: [best] }) =>
        best ? [{ kind: 'similarity', value: best.similarity, isMatched: matched }] : [],
    ),
  checkCall: ({ params }) => {
    const { images = [], sameSubject } = params
    const isStored = isStoredSearch(params, pictureFields)
    if (sameSubject && !isStored) requireFrames({ ...params, images })
  },
  run: async (call) => {
    const { images } = call.params
    return isStoredSearch(call.params, pictureFields) || images === undefined
      ? identifyStored(call)
      : identifyImages({ ...call, params: { ...call.params, images } })
  },
})

async function identifyImages(call: IdentifyCall) {
  const { subjects, matching } = call.services
  const { galleryId, switches } = call.caller
  const unknownGroups = await findUnknownGroups(call)
  const readSequence = () => subjects.read((reading) => matching.sequence(reading, galleryId))
  const subjectSequence = switches.unknownPeople ? await readSequence() : 0
  const searches = await searchImages(call)
  const visitors = await searchVisitors(call, facesOf(searches), subjectSequence)
  return {
    effect: async (tx: Tx) => {
      await subjects.lock(tx, galleryId, 'shared')
      const state = await searchFacts(call, tx)
      const hits = facesOf(searches).flatMap((face) => face.hits)
      const found = { hits, threshold: state.threshold }
      const hitSubjects = await loadHitSubjects(call, tx, found)
      // A repeated transaction begins with the result of the search again.
      const current = visitors && { ...visitors, hitsOf: new Map(visitors.hitsOf) }
      const facts = { ...state, hitSubjects, unknownGroups, visitors: current }
      const outcomes = await mapSequential(searches, (search) => toOutcome(call, tx, search, facts))
      await storeMatches(call, tx, searches, outcomes)
      await storeNearestFace(call, tx, searches, outcomes)
      await matching.recordMatches(tx, call.caller, matchedSubjectIds(outcomes))
      return outcomes
    },
  }
}

/** Only the best candidate of a face counts as matched; the others are merely similar. */
function matchedSubjectIds(outcomes: ItemOutcomes<IdentifyResult>): string[] {
  const faces = outcomes.flatMap((outcome) => ('value' in outcome ? outcome.value.faces : []))
  return faces.flatMap(({ candidates: [best] }) => best?.subjectId ?? [])
}

/** The faces of one image with their hits. */
type CompletedSearch = {
  readonly correlationId: string | undefined
  readonly analysis: ExtractedProbes['analysis']
  readonly faces: readonly SearchedFace[]
  /** The most candidates of each face. */
  readonly maxCandidates: number
  readonly searchMs: number
  /** The models that the faces were compared by. */
  readonly modelIds: readonly string[]
  /** Faces of the gallery that could not be compared. */
  readonly incomparableCount: number
}

type ImageSearch =
  | CompletedSearch
  | {
      readonly correlationId: string | undefined
      readonly error: ActionError
      readonly faces?: never
    }

async function searchImages(call: IdentifyCall): Promise<readonly ImageSearch[]> {
  const { images, sameSubject } = call.params
  if (sameSubject) return [await searchSubject(call)]
  using reserved = reserveImages(call, images)
  return await Promise.all(images.map((image, index) => searchImage(reserved, image, index)))
}

async function searchImage(
  call: IdentifyCall,
  image: IdentifyCall['params']['images'][number],
  index: number,
): Promise<ImageSearch> {
  const { correlationId } = image
  try {
    const extract = await searchExtractOptions(call)
    const extracted = await extractProbes({ ...call, extract }, image, index)
    return { correlationId, ...(await searchFaces(call, extracted)) }
  } catch (error) {
    if (error instanceof ActionError) return { correlationId, error }
    throw error
  }
}

/** Searches with one probe for all images. */
async function searchSubject(call: IdentifyCall): Promise<ImageSearch> {
  const { params } = call
  const extract = await searchExtractOptions(call)
  const extracted = await extractMergedProbe({ ...call, extract }, params.images)
  const { correlationId } = params.images[0] ?? {}
  return { correlationId, ...(await searchFaces(call, extracted)) }
}

/** @throws ActionError MODEL_MISMATCH if no template of the gallery can be compared. */
async function searchFaces(call: IdentifyCall, { analysis, faces }: ExtractedProbes) {
  const startMs = performance.now()
  const { params } = call
  const faceMax = Math.floor(callCandidatesMax / params.images.length / faces.length)
  const maxCandidates = Math.min(params.maxCandidates, faceMax)
  const limited = { ...call, params: { ...params, maxCandidates } }
  const found = await Promise.all(
    faces.map(async (face) => ({ ...face, hits: await searchProbe(limited, face.probes) })),
  )
  const decided = await call.services.matching.lowerDeniedHits(found)
  const searched = found.map((face, index) => ({ ...face, decidedHits: decided[index] ?? [] }))
  const searchMs = performance.now() - startMs
  const modelIds = faces[0].probes.map(({ modelId }) => modelId)
  const incomparableCount = await countIncomparable(call, modelIds)
  return { analysis, faces: searched, maxCandidates, searchMs, modelIds, incomparableCount }
}

function facesOf(searches: readonly ImageSearch[]): SearchedFace[] {
  return searches.flatMap((search) => ('error' in search ? [] : search.faces))
}

/** The state of the gallery when the call is settled. */
type GalleryFacts = Pick<IdentifyResult, 'gallerySize' | 'threshold' | 'thresholdSource'> & {
  readonly hitSubjects: HitSubjects
  readonly unknownGroups: readonly string[]
  readonly visitors: VisitorSearch | undefined
}

async function toOutcome(
  call: IdentifyCall,
  tx: Tx,
  search: ImageSearch,
  { hitSubjects, unknownGroups, visitors, ...facts }: GalleryFacts,
): Promise<ItemOutcome<IdentifyResult>> {
  const { correlationId } = search
  if ('error' in search) return { correlationId, error: search.error.firstProblem }
  const { matching } = call.services
  const { found, searched } = decideCandidates(call, search, { ...facts, hitSubjects })
  const splits = searched.map(({ candidates }) => splitAtThreshold(facts.threshold, candidates))
  const unmatched = { search: visitors, faces: search.faces, candidates: found }
  const visits = await recordVisits(call, tx, { ...unmatched, threshold: facts.threshold })
  const faces = search.faces.map((face, index) => {
    const candidates = (splits[index]?.above ?? []).slice(0, search.maxCandidates)
    const ambiguous = searched[index]?.isAmbiguous && { ambiguous: true as const }
    const faceValue = toFaceValue(search.analysis, face, index)
    const { value: visitor } = visits[index] ?? {}
    return { ...faceValue, matched: candidates.length > 0, ...ambiguous, candidates, ...visitor }
  })
  const best = faces.flatMap(({ candidates }) => candidates.slice(0, 1))
  const bestMatch = best.toSorted((a, b) => b.similarity - a.similarity)[0] ?? null
  const value: IdentifyResult = {
    matched: bestMatch !== null,
    bestMatch,
    faces,
    ...facts,
    calibration: matching.calibrationSource(search.modelIds),
    ...(search.incomparableCount > 0 && { notComparable: search.incomparableCount }),
    image: toImageFacts(search.analysis),
    ...toWarnings(
      ...unknownGroupWarnings(unknownGroups),
      ...zeroThreshold(call.params),
      ...fewerCandidates(call.params, search.maxCandidates, faces),
    ),
    ...debugInfoOf(call, search, splits[0]),
  }
  const shown = faces.flatMap(({ candidates }) => candidates)
  if (call.debug) shown.push(...splits.flatMap(({ below }) => below))
  const subjectIds = shown.map(({ subjectId }) => subjectId)
  subjectIds.push(...visits.flatMap((visit) => visit?.value.visitorId ?? []))
  const decision = searchDecision(facts.threshold, searched)
  const unknown = unmatchedEvents({ candidates: found, visits, ...facts })
  const faceEvents = [...matchEvents(value), ...unknown]
  return { correlationId, subjectIds, value, decision, faceEvents }
}

/** Returns the subjects of each face as they were found, and as the call can match them. */
function decideCandidates(
  call: IdentifyCall,
  { faces }: CompletedSearch,
  { hitSubjects, threshold }: Pick<GalleryFacts, 'hitSubjects' | 'threshold'>,
) {
  const found = faces.map(({ decidedHits }) => toCandidates(hitSubjects, decidedHits))
  const possible = call.params.uniqueSubjects ? assignSubjects(threshold, found) : found
  const searched = faces.map(({ qualityScore }, index) => {
    const candidates = possible[index] ?? []
    return { qualityScore, candidates, isAmbiguous: isAmbiguous(threshold, candidates) }
  })
  return { found, searched }
}

/** The debug information of the largest face; with `sameSubject`, of the merged probe. */
function debugInfoOf(
  call: IdentifyCall,
  { analysis, faces: [largest], searchMs }: CompletedSearch,
  split: ThresholdSplit | undefined,
) {
  if (!largest || !split) return {}
  const [best] = largest.hits
  return debugInfo(call.debug, analysis, largest, {
    scores: best ? { recognizer: best.score } : {},
    searchMs,
    candidatesBelowThreshold: split.below,
    modelIds: largest.probes.map(({ modelId }) => modelId),
  })
}
