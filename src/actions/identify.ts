import { z } from 'zod'
import type { Gallery, Hit } from '../gallery/gallery.ts'
import { ActionError } from '../lib/errors.ts'
import { mapInTurn } from '../lib/in-turn.ts'
import type { Tx } from '../store/tx.ts'
import { defineAction, type ActionCall, type Outcome } from './action.ts'
import { faceErrors, imageErrors } from './image-errors.ts'
import { candidatesOf, debugOf, type Candidate } from './candidates.ts'
import { identifyExample } from './examples.ts'
import { faceOf, imageOf } from './face.ts'
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
} from './fields.ts'
import { sight, type Sight, type Sighted } from './sight.ts'

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

type Call = ActionCall<z.output<typeof identifyParams>>
type Value = z.input<typeof identifyValue>

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
    const looks = await Promise.all(
      call.params.images.map((_, index) => lookAndSearch(call, index)),
    )
    return {
      effect: async (tx) => {
        await call.services.gallery.hold(tx, call.caller.galleryId, 'together')
        return mapInTurn(looks, (look) => outcomeOf(call, tx, look))
      },
    }
  },
})

/** Faces with what they are like; or why there are none. */
type Searched = { readonly correlationId: string | undefined } & (
  | { readonly error: ActionError }
  | {
      readonly view: Sight['view']
      readonly faces: readonly (Sighted & { readonly hits: readonly Hit[] })[]
      readonly searchMs: number
      /** Faces that did not compare. */
      readonly others: number
    }
)

/** Found below the threshold, for debugging. */
const belowMax = 5

async function lookAndSearch(call: Call, index: number): Promise<Searched> {
  const { params, caller, services, debug: isDebug } = call
  const image = params.images[index]
  if (!image) throw new RangeError('there is no such image')
  const { correlationId } = image
  try {
    const wanted = { formerTemplates: await services.gallery.formerModels(caller.galleryId) }
    const { view, faces } = await sight({ ...call, wanted }, image, index)
    const startMs = performance.now()
    const limit = params.maxCandidates + (isDebug ? belowMax : 0)
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
    const { count, others } = await services.gallery.comparable(caller.galleryId, modelIds)
    if (count === 0 && others > 0)
      throw new ActionError(
        'MODEL_MISMATCH',
        `no template of the gallery is of ${modelIds.join(' or ')}`,
      )
    return { correlationId, view, faces: searched, searchMs, others }
  } catch (error) {
    if (error instanceof ActionError) return { correlationId, error }
    throw error
  }
}

/** The answer as the gallery stands when the call ends. */
async function outcomeOf(call: Call, tx: Tx, searched: Searched): Promise<Outcome<Value>> {
  const { correlationId } = searched
  if ('error' in searched) {
    const { code, message } = searched.error
    return { correlationId, error: { code, message } }
  }
  const { caller, services, params } = call
  const { gallery } = services
  const gallerySize = (await gallery.size(tx, caller.galleryId)).subjectCount
  const { threshold, thresholdSource } = await thresholdFor(call, tx, gallerySize)
  const told = await mapInTurn(searched.faces, async (one) => ({
    one,
    ...splitAt(threshold, await candidatesOf(gallery, tx, caller.galleryId, one.hits)),
  }))
  const faces = told.map(({ one, above }, index) => {
    const candidates = above.slice(0, params.maxCandidates)
    return { ...faceOf(searched.view, one, index), matched: candidates.length > 0, candidates }
  })
  const bestMatch = bestOf(faces.flatMap(({ candidates }) => candidates.slice(0, 1)))
  await touchMatched(gallery, tx, faces)
  const [first] = told
  const value: Value = {
    matched: bestMatch !== null,
    bestMatch,
    faces,
    threshold,
    thresholdSource,
    gallerySize,
    ...(searched.others > 0 && { notComparable: searched.others }),
    image: imageOf(searched.view),
    ...(first && debugFacts(call, searched, first)),
  }
  const subjectIds = told.flatMap(({ above, below }) =>
    [...above, ...(call.debug ? below : [])].map(({ subjectId }) => subjectId),
  )
  return { correlationId, subjectIds, value }
}

/** What the request says holds, then what the project says, then the size of the gallery. */
async function thresholdFor(
  { params, caller, services: { gallery } }: Call,
  tx: Tx,
  gallerySize: number,
): Promise<Pick<Value, 'threshold' | 'thresholdSource'>> {
  if (params.threshold !== 'auto')
    return { threshold: params.threshold, thresholdSource: 'request' }
  const own = await gallery.projectThreshold(tx, caller.projectId)
  if (own !== null) return { threshold: own, thresholdSource: 'project' }
  return { threshold: gallery.autoThreshold(gallerySize), thresholdSource: 'auto' }
}

type Split = { readonly above: Candidate[]; readonly below: Candidate[] }

function splitAt(threshold: number, candidates: readonly Candidate[]): Split {
  const isAbove = ({ similarity: one }: Candidate): boolean => one >= threshold
  return {
    above: candidates.filter(isAbove),
    below: candidates.filter((one) => !isAbove(one)).slice(0, belowMax),
  }
}

function bestOf(candidates: readonly Candidate[]): Candidate | null {
  return candidates.toSorted((a, b) => b.similarity - a.similarity)[0] ?? null
}

/** Only the best of a face was met; the others merely look like it. */
async function touchMatched(gallery: Gallery, tx: Tx, faces: Value['faces']): Promise<void> {
  const met = faces.flatMap(({ candidates }) => candidates.slice(0, 1))
  await gallery.touch(
    tx,
    met.map(({ subjectId }) => subjectId),
  )
}

/** Of the largest face. */
function debugFacts(
  { debug: isDebug }: Call,
  searched: Exclude<Searched, { readonly error: ActionError }>,
  { one, below }: Split & { readonly one: Sighted & { readonly hits: readonly Hit[] } },
) {
  const [best] = one.hits
  return debugOf(isDebug, searched.view, one, {
    scores: best ? { recognizer: best.score } : {},
    searchMs: searched.searchMs,
    below,
    modelIds: one.probes.map(({ modelId }) => modelId),
  })
}
