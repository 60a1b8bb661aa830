import { z } from 'zod'
import type { SearchHit } from '../gallery/search/search-across-models.ts'
import { ActionError } from '../lib/errors.ts'
import { mapSequential } from '../lib/map-sequential.ts'
import type { Tx } from '../store/tx.ts'
import { defineAction, type ActionCall, type ItemOutcome } from './action.ts'
import { comparisonErrors } from './parts/action-errors.ts'
import {
  debugCandidatesMax,
  loadHitSubjects,
  splitAtThreshold,
  toCandidates,
} from './parts/search/candidates.ts'
import type { HitSubjects, ThresholdSplit } from './parts/search/candidates.ts'
import { spendLivenessToken } from './parts/challenge/liveness-proof.ts'
import { debugInfo } from './parts/debug-info.ts'
import { extractProbes, type ExtractedProbes, type ProbeFace } from './parts/extract-probes.ts'
import { toFaceValue, toImageFacts } from './parts/face-value.ts'
import {
  extractMergedProbe,
  requireFrames,
  sameSubjectDescription,
} from './parts/pictures/merge-frames.ts'
import { reserveImages } from './parts/reserve-images.ts'
import { searchThreshold } from './parts/search/search-threshold.ts'
import { findUnknownGroups, unknownGroupWarnings } from './parts/search/unknown-groups.ts'
import { toWarnings } from './parts/pictures/warnings.ts'
import { candidateExample, faceExample, imageExample } from './schemas/examples.ts'
import {
  calibration,
  candidate,
  debug,
  face,
  faceParams,
  groupName,
  imageBatch,
  imageFacts,
  requiredLivenessParams,
  similarity,
  warnings,
} from './schemas/fields.ts'

const identifyParams = z
  .strictObject({
    images: imageBatch,
    sameSubject: z.boolean().default(false).meta({ description: sameSubjectDescription }),
    maxCandidates: z.int().min(1).max(100).default(5),
    threshold: z
      .union([similarity, z.literal('auto')])
      .optional()
      .meta({
        description:
          '0..1, or `auto`: from 0.80 for a small gallery to 0.95, so that about 1 % of searches for people who are not enrolled return a false match. If absent, the threshold of the project applies, or else `auto`.',
      }),
    groups: z.array(groupName).min(1).max(20).optional().meta({
      description:
        'Only subjects of any of these groups. If none of them exists: GROUP_NOT_FOUND; if some do not, `warnings` names them.',
    }),
    maxFaces: z.int().min(1).max(20).default(1),
    ...faceParams,
    ...requiredLivenessParams,
  })
  .meta({ id: 'IdentifyParams' })

const identifyValue = z
  .object({
    matched: z.boolean(),
    bestMatch: candidate.nullable(),
    faces: z.array(face.extend({ matched: z.boolean(), candidates: z.array(candidate) })),
    threshold: similarity,
    thresholdSource: z.enum(['request', 'project', 'auto']),
    calibration,
    gallerySize: z.int().min(0).meta({ description: 'Number of subjects in the gallery.' }),
    notComparable: z.int().min(1).optional().meta({
      description:
        'Number of faces that were not compared because they have only templates of other models; absent if there are none.',
    }),
    image: imageFacts,
    warnings,
    debug,
  })
  .meta({ id: 'IdentifyValue' })

type IdentifyCall = ActionCall<z.output<typeof identifyParams>>
type IdentifyResult = z.input<typeof identifyValue>

const example = {
  params: { maxCandidates: 3 },
  value: {
    matched: true,
    bestMatch: candidateExample,
    faces: [{ ...faceExample, matched: true, candidates: [candidateExample] }],
    threshold: 0.8,
    thresholdSource: 'auto' as const,
    calibration: 'model' as const,
    gallerySize: 120,
    image: imageExample,
  },
}

/** Searches for the people of an image. Only `debug` returns subjects below the threshold. */
export const identify = defineAction({
  name: 'svc.identify',
  summary: 'Search the gallery for the faces of up to ten images.',
  price: (imageCount) => 2 * imageCount,
  params: identifyParams,
  analyzesAllImages: true,
  value: identifyValue,
  errors: ['GROUP_NOT_FOUND', ...comparisonErrors],
  example,
  scrub: (value) => ({
    ...value,
    matched: false,
    bestMatch: null,
    faces: value.faces.map((face) => ({ ...face, matched: false, candidates: [] })),
    debug: value.debug && { ...value.debug, candidatesBelowThreshold: undefined },
  }),
  // A face without a match has no similarity in the response, so the charts do not count it.
  scores: ({ faces }) =>
    faces.flatMap(({ matched, candidates: [best] }) =>
      best ? [{ kind: 'similarity', value: best.similarity, isMatched: matched }] : [],
    ),
  matches: ({ faces, threshold }) =>
    faces.flatMap(({ faceIndex, candidates: [best] }) => {
      if (!best) return []
      const { subjectId, externalId, faceId, similarity } = best
      return [{ faceIndex, subjectId, externalId, faceId, similarity, threshold }]
    }),
  run: spendLivenessToken(async (call: IdentifyCall) => {
    const { caller, services } = call
    const { gallery } = services
    const { galleryId } = caller
    const unknownGroups = await findUnknownGroups(gallery, galleryId, call.params.groups)
    const searches = await searchImages(call)
    return {
      effect: async (tx) => {
        await gallery.lock(tx, caller.galleryId, 'shared')
        const subjects = await loadHitSubjects(gallery, tx, caller.galleryId, hitsOf(searches))
        const facts = { ...(await galleryFacts(call, tx)), subjects, unknownGroups }
        return mapSequential(searches, (search) => toOutcome(call, tx, search, facts))
      },
    }
  }),
})

type SearchedFace = ProbeFace & { readonly hits: readonly SearchHit[] }

/** The faces of one image with their hits. */
type CompletedSearch = {
  readonly correlationId: string | undefined
  readonly analysis: ExtractedProbes['analysis']
  readonly faces: readonly SearchedFace[]
  readonly searchMs: number
  /** The models that the faces were compared by. */
  readonly modelIds: readonly string[]
  /** Faces of the gallery that could not be compared. */
  readonly incomparableCount: number
}

type ImageSearch =
  | CompletedSearch
  | { readonly correlationId: string | undefined; readonly error: ActionError }

async function searchImages(call: IdentifyCall): Promise<readonly ImageSearch[]> {
  const { images, sameSubject } = call.params
  if (sameSubject) return [await searchSubject(call)]
  using reserved = reserveImages(call, images)
  return await Promise.all(images.map((_, index) => searchImage(reserved, index)))
}

async function searchImage(call: IdentifyCall, index: number): Promise<ImageSearch> {
  const image = call.params.images[index]
  if (!image) throw new RangeError(`params.images[${index}] does not exist`)
  const { correlationId } = image
  const { gallery } = call.services
  const { galleryId } = call.caller
  try {
    const extract = { previousTemplates: await gallery.formerModels(galleryId) }
    const extracted = await extractProbes({ ...call, extract }, image, index)
    return { correlationId, ...(await searchFaces(call, extracted)) }
  } catch (error) {
    if (error instanceof ActionError) return { correlationId, error }
    throw error
  }
}

/** Searches with one probe for all images. */
async function searchSubject(call: IdentifyCall): Promise<ImageSearch> {
  const { params, caller, services } = call
  requireFrames(params)
  const extract = { previousTemplates: await services.gallery.formerModels(caller.galleryId) }
  const extracted = await extractMergedProbe({ ...call, extract }, params.images)
  const { correlationId } = params.images[0] ?? {}
  return { correlationId, ...(await searchFaces(call, extracted)) }
}

/** @throws ActionError MODEL_MISMATCH if no template of the gallery can be compared. */
async function searchFaces(
  call: IdentifyCall,
  { analysis, faces }: ExtractedProbes,
): Promise<Omit<CompletedSearch, 'correlationId'>> {
  const { gallery } = call.services
  const startMs = performance.now()
  const searched = await Promise.all(faces.map((face) => searchFace(call, face)))
  const searchMs = performance.now() - startMs
  const modelIds = faces[0].probes.map(({ modelId }) => modelId)
  const { count, otherCount } = await gallery.countComparable(call.caller.galleryId, modelIds)
  if (count === 0 && otherCount > 0)
    throw new ActionError(
      'MODEL_MISMATCH',
      `the gallery has no template of ${modelIds.join(' or ')}`,
    )
  return { analysis, faces: searched, searchMs, modelIds, incomparableCount: otherCount }
}

async function searchFace(call: IdentifyCall, face: ProbeFace): Promise<SearchedFace> {
  const { params, caller, services } = call
  const limit = params.maxCandidates + (call.debug ? debugCandidatesMax : 0)
  const options = { limit, groups: params.groups }
  return { ...face, hits: await services.gallery.search(caller.galleryId, face.probes, options) }
}

function hitsOf(searches: readonly ImageSearch[]): SearchHit[] {
  return searches.flatMap((search) =>
    'error' in search ? [] : search.faces.flatMap(({ hits }) => hits),
  )
}

/** The state of the gallery when the call is settled. */
type GalleryFacts = Pick<IdentifyResult, 'gallerySize' | 'threshold' | 'thresholdSource'> & {
  readonly subjects: HitSubjects
  readonly unknownGroups: readonly string[]
}

async function galleryFacts(
  { params, caller, services: { gallery } }: IdentifyCall,
  tx: Tx,
): Promise<Omit<GalleryFacts, 'subjects' | 'unknownGroups'>> {
  const gallerySize = (await gallery.size(tx, caller.galleryId)).subjectCount
  const request = { requested: params.threshold, projectId: caller.projectId, gallerySize }
  return { gallerySize, ...(await searchThreshold(gallery, tx, request)) }
}

async function toOutcome(
  call: IdentifyCall,
  tx: Tx,
  search: ImageSearch,
  { subjects, unknownGroups, ...facts }: GalleryFacts,
): Promise<ItemOutcome<IdentifyResult>> {
  const { correlationId } = search
  if ('error' in search) {
    const [error] = search.error.problems
    if (!error) throw new Error('an ActionError has at least one problem')
    return { correlationId, error }
  }
  const { gallery } = call.services
  const splits = search.faces.map((face) =>
    splitAtThreshold(facts.threshold, toCandidates(gallery, subjects, face.hits)),
  )
  const faces = search.faces.map((face, index) => {
    const candidates = (splits[index]?.above ?? []).slice(0, call.params.maxCandidates)
    const faceValue = toFaceValue(search.analysis, face, index)
    return { ...faceValue, matched: candidates.length > 0, candidates }
  })
  const best = faces.flatMap(({ candidates }) => candidates.slice(0, 1))
  // Only the best candidate of a face counts as matched; the others are merely similar.
  const bestIds = best.map(({ subjectId }) => subjectId)
  await gallery.touch(tx, bestIds)
  const bestMatch = best.toSorted((a, b) => b.similarity - a.similarity)[0] ?? null
  const value: IdentifyResult = {
    matched: bestMatch !== null,
    bestMatch,
    faces,
    ...facts,
    calibration: gallery.calibrationSource(search.modelIds),
    ...(search.incomparableCount > 0 && { notComparable: search.incomparableCount }),
    image: toImageFacts(search.analysis),
    ...toWarnings(...unknownGroupWarnings(unknownGroups)),
    ...debugInfoOf(call, search, splits[0]),
  }
  const subjectIds = splits.flatMap(({ above, below }) =>
    [...above, ...(call.debug ? below : [])].map(({ subjectId }) => subjectId),
  )
  return { correlationId, subjectIds, value }
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
