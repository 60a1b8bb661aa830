import { z } from 'zod'
import type { Gallery, SearchHit } from '../gallery/gallery.ts'
import { ActionError } from '../lib/errors.ts'
import { mapSequential } from '../lib/map-sequential.ts'
import type { Tx } from '../store/tx.ts'
import { defineAction, type ActionCall, type ItemOutcome } from './action.ts'
import { faceErrors, imageErrors } from './parts/action-errors.ts'
import { toCandidates, debugInfo, type MatchCandidate } from './parts/candidates.ts'
import { identifyExample } from './schemas/examples.ts'
import { toFaceValue, toImageFacts } from './parts/face-value.ts'
import {
  candidate,
  debug,
  face,
  facePolicy,
  groupName,
  imageBatch,
  imageFacts,
  livenessThreshold,
  minFaceConfidence,
  minFaceSize,
  minQuality,
  requireLiveness,
  similarity,
} from './schemas/fields.ts'
import { extractProbes, type ExtractedProbes, type ProbeFace } from './parts/extract-probes.ts'

const identifyParams = z
  .strictObject({
    images: imageBatch,
    maxCandidates: z.int().min(1).max(100).default(5),
    threshold: z
      .union([similarity, z.literal('auto')])
      .default('auto')
      .meta({ description: '0..1; `auto` is one false answer in a hundred searches.' }),
    groups: z
      .array(groupName)
      .min(1)
      .max(20)
      .optional()
      .meta({ description: 'Only subjects that belong to any of these.' }),
    maxFaces: z.int().min(1).max(20).default(1),
    minFaceConfidence,
    minFaceSize,
    facePolicy: facePolicy('largest'),
    minQuality: minQuality(0),
    requireLiveness,
    livenessThreshold,
  })
  .meta({ id: 'IdentifyParams' })

const identifyValue = z
  .object({
    matched: z.boolean(),
    bestMatch: candidate.nullable(),
    faces: z.array(face.extend({ matched: z.boolean(), candidates: z.array(candidate) })),
    threshold: similarity,
    thresholdSource: z.enum(['request', 'project', 'auto']),
    gallerySize: z.int().min(0).meta({ description: 'Subjects of the gallery.' }),
    notComparable: z.int().min(1).optional().meta({
      description:
        'Faces with templates of other models alone, which were not compared; absent when there are none.',
    }),
    image: imageFacts,
    debug,
  })
  .meta({ id: 'IdentifyValue' })

type IdentifyCall = ActionCall<z.output<typeof identifyParams>>
type IdentifyResult = z.input<typeof identifyValue>

/** Names the people of an image. Nobody below the threshold ever leaves, but for debugging. */
export const identify = defineAction({
  name: 'svc.identify',
  summary: 'Search the gallery for the faces of up to ten images.',
  price: (imageCount) => 2 * imageCount,
  params: identifyParams,
  value: identifyValue,
  errors: [...imageErrors, ...faceErrors, 'MODEL_MISMATCH'],
  example: identifyExample,
  scrub: (value) => ({
    ...value,
    matched: false,
    bestMatch: null,
    faces: value.faces.map((one) => ({ ...one, matched: false, candidates: [] })),
    debug: value.debug && { ...value.debug, candidatesBelowThreshold: undefined },
  }),
  // Who is nobody has no similarity in the answer, and so none in the charts.
  scores: ({ faces }) =>
    faces.flatMap(({ matched, candidates: [best] }) =>
      best ? [{ kind: 'similarity', value: best.similarity, isMatched: matched }] : [],
    ),
  run: async (call) => {
    const looks = await Promise.all(call.params.images.map((_, index) => searchImage(call, index)))
    return {
      effect: async (tx) => {
        await call.services.gallery.lock(tx, call.caller.galleryId, 'shared')
        return mapSequential(looks, (look) => toOutcome(call, tx, look))
      },
    }
  },
})

/** Faces with what they are like; or why there are none. */
type ImageSearch = { readonly correlationId: string | undefined } & (
  | { readonly error: ActionError }
  | {
      readonly analysis: ExtractedProbes['analysis']
      readonly faces: readonly (ProbeFace & { readonly hits: readonly SearchHit[] })[]
      readonly searchMs: number
      /** Faces that did not compare. */
      readonly incomparableCount: number
    }
)

/** Found below the threshold, for debugging. */
const debugCandidatesMax = 5

async function searchImage(call: IdentifyCall, index: number): Promise<ImageSearch> {
  const { params, caller, services, debug: isDebug } = call
  const image = params.images[index]
  if (!image) throw new RangeError('there is no such image')
  const { correlationId } = image
  try {
    const wanted = { previousTemplates: await services.gallery.formerModels(caller.galleryId) }
    const { analysis: view, faces } = await extractProbes({ ...call, wanted }, image, index)
    const startMs = performance.now()
    const limit = params.maxCandidates + (isDebug ? debugCandidatesMax : 0)
    const found = faces.map(async (one) => {
      const options = { limit, groups: params.groups }
      return {
        ...one,
        hits: await services.gallery.search(caller.galleryId, one.probes, options),
      }
    })
    const searched = await Promise.all(found)
    const searchMs = performance.now() - startMs
    const modelIds = faces[0].probes.map(({ modelId }) => modelId)
    const { count, otherCount: others } = await services.gallery.countComparable(
      caller.galleryId,
      modelIds,
    )
    if (count === 0 && others > 0)
      throw new ActionError(
        'MODEL_MISMATCH',
        `no template of the gallery is of ${modelIds.join(' or ')}`,
      )
    return { correlationId, analysis: view, faces: searched, searchMs, incomparableCount: others }
  } catch (error) {
    if (error instanceof ActionError) return { correlationId, error }
    throw error
  }
}

/** The answer as the gallery stands when the call ends. */
async function toOutcome(
  call: IdentifyCall,
  tx: Tx,
  searched: ImageSearch,
): Promise<ItemOutcome<IdentifyResult>> {
  const { correlationId } = searched
  if ('error' in searched) {
    const { code, message } = searched.error
    return { correlationId, error: { code, message } }
  }
  const { caller, services, params } = call
  const { gallery } = services
  const gallerySize = (await gallery.size(tx, caller.galleryId)).subjectCount
  const { threshold, thresholdSource } = await thresholdFor(call, tx, gallerySize)
  const told = await mapSequential(searched.faces, async (one) => ({
    one,
    ...splitAtThreshold(threshold, await toCandidates(gallery, tx, caller.galleryId, one.hits)),
  }))
  const faces = told.map(({ one, above }, index) => {
    const candidates = above.slice(0, params.maxCandidates)
    return {
      ...toFaceValue(searched.analysis, one, index),
      matched: candidates.length > 0,
      candidates,
    }
  })
  const bestMatch = bestCandidate(faces.flatMap(({ candidates }) => candidates.slice(0, 1)))
  await touchMatched(gallery, tx, faces)
  const [first] = told
  const value: IdentifyResult = {
    matched: bestMatch !== null,
    bestMatch,
    faces,
    threshold,
    thresholdSource,
    gallerySize,
    ...(searched.incomparableCount > 0 && { notComparable: searched.incomparableCount }),
    image: toImageFacts(searched.analysis),
    ...(first && debugInfoOf(call, searched, first)),
  }
  const subjectIds = told.flatMap(({ above, below }) =>
    [...above, ...(call.debug ? below : [])].map(({ subjectId }) => subjectId),
  )
  return { correlationId, subjectIds, value }
}

/** What the request says holds, then what the project says, then the size of the gallery. */
async function thresholdFor(
  { params, caller, services: { gallery } }: IdentifyCall,
  tx: Tx,
  gallerySize: number,
): Promise<Pick<IdentifyResult, 'threshold' | 'thresholdSource'>> {
  if (params.threshold !== 'auto')
    return { threshold: params.threshold, thresholdSource: 'request' }
  const own = await gallery.projectThreshold(tx, caller.projectId)
  if (own !== null) return { threshold: own, thresholdSource: 'project' }
  return { threshold: gallery.autoThreshold(gallerySize), thresholdSource: 'auto' }
}

type ThresholdSplit = { readonly above: MatchCandidate[]; readonly below: MatchCandidate[] }

function splitAtThreshold(
  threshold: number,
  candidates: readonly MatchCandidate[],
): ThresholdSplit {
  const isAbove = ({ similarity: one }: MatchCandidate): boolean => one >= threshold
  return {
    above: candidates.filter(isAbove),
    below: candidates.filter((one) => !isAbove(one)).slice(0, debugCandidatesMax),
  }
}

function bestCandidate(candidates: readonly MatchCandidate[]): MatchCandidate | null {
  return candidates.toSorted((a, b) => b.similarity - a.similarity)[0] ?? null
}

/** Only the best of a face was met; the others merely look like it. */
async function touchMatched(
  gallery: Gallery,
  tx: Tx,
  faces: IdentifyResult['faces'],
): Promise<void> {
  const met = faces.flatMap(({ candidates }) => candidates.slice(0, 1))
  await gallery.touch(
    tx,
    met.map(({ subjectId }) => subjectId),
  )
}

/** Of the largest face. */
function debugInfoOf(
  { debug: isDebug }: IdentifyCall,
  searched: Exclude<ImageSearch, { readonly error: ActionError }>,
  {
    one,
    below,
  }: ThresholdSplit & { readonly one: ProbeFace & { readonly hits: readonly SearchHit[] } },
) {
  const [best] = one.hits
  return debugInfo(isDebug, searched.analysis, one, {
    scores: best ? { recognizer: best.score } : {},
    searchMs: searched.searchMs,
    candidatesBelowThreshold: below,
    modelIds: one.probes.map(({ modelId }) => modelId),
  })
}
