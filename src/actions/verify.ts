import { z } from 'zod'
import type { MatchScore } from '../gallery/match.ts'
import { ActionError, invalidRequest } from '../lib/errors.ts'
import type { ReadTx, Tx } from '../store/database.ts'
import { defineAction, type ActionCall } from './action.ts'
import { comparisonErrors, subjectNotFound } from './parts/action-errors.ts'
import { comparisonDecision } from './parts/call-decisions.ts'
import {
  debugInfo,
  toFaceValue,
  toImageFacts,
  toWarnings,
  zeroThreshold,
} from './parts/response-fields.ts'
import { extractProbes, reserveImages, type ExtractOptions } from './parts/extract-probes.ts'
import {
  extractMergedProbe,
  requireFrames,
  sameSubjectDescription,
} from './parts/pictures/merge-frames.ts'
import { extractOrRefuse, isFlagSet, requireUsable } from './parts/pictures/extract-pictures.ts'
import { storeNearMiss } from './parts/search/near-misses.ts'
import { matchLevelOf } from './parts/search/candidates.ts'
import { autoEnroll } from './parts/store-face.ts'
import { requireOneId, subjectLookup } from './parts/subject-lookup.ts'
import examples from './schemas/examples.json' with { type: 'json' }
import * as fields from './schemas/fields.ts'
import { imageBatch } from './schemas/images.ts'
import texts from './schemas/field-texts.json' with { type: 'json' }

/** The similarity of the level `medium`: one false match in 10⁴ comparisons. */
export const verifyThreshold = 0.8

const mode = z.enum(['imageToImage', 'imageToSubject'])

const verifyParams = z
  .strictObject({
    images: imageBatch.describe(texts.verify.images),
    mode: mode.optional().describe(texts.verify.mode),
    subjectId: fields.subjectId.optional(),
    externalId: fields.externalId.optional(),
    sameSubject: z
      .boolean()
      .default(false)
      .meta({ description: `Only with a subject. ${sameSubjectDescription}` }),
    threshold: fields.matchThreshold
      .default(verifyThreshold)
      .meta({ description: `0..1, or \`auto\`: ${verifyThreshold.toFixed(2)}.` }),
    ...fields.faceParams,
    ...fields.requiredLivenessParams,
  })
  // A liveness session replaces the first image.
  .meta({ id: 'VerifyParams', required: [] })

type VerifyCall = ActionCall<z.output<typeof verifyParams>>

/** The calibrated similarity at each false match rate; it is the same for every model. */
const thresholds = { fmr1e3: 0.7, fmr1e4: 0.8, fmr1e5: 0.9, fmr1e6: 0.95 }

const verifyValue = z
  .object({
    mode,
    matched: z.boolean(),
    similarity: fields.similarity,
    matchLevel: fields.matchLevel,
    threshold: fields.similarity,
    thresholds: z
      .object({
        fmr1e3: fields.similarity,
        fmr1e4: fields.similarity,
        fmr1e5: fields.similarity,
        fmr1e6: fields.similarity,
      })
      .describe(texts.verify.thresholds),
    calibration: fields.calibration,
    probe: fields.face,
    reference: fields.face.nullable(),
    subjectId: z.uuid().optional(),
    externalId: z.string().nullable().optional(),
    faceId: z.uuid().optional().describe(texts.verify.faceId),
    autoEnrolledFaceId: z.uuid().optional().describe(texts.verify.autoEnrolledFaceId),
    image: fields.imageFacts,
    warnings: fields.warnings,
    debug: fields.debug,
  })
  .meta({ id: 'VerifyValue' })

/** Decides whether two faces belong to the same person. */
export const verify = defineAction({
  name: 'svc.verify',
  summary: 'Compare a face with another image, or with a subject of the gallery.',
  price: (imageCount, params) => (isFlagSet(params, 'sameSubject') ? 2 * imageCount : 2),
  params: verifyParams,
  sessionImage: 'first',
  analyzesAllImages: true,
  value: verifyValue,
  errors: ['SUBJECT_NOT_FOUND', ...comparisonErrors],
  example: examples['svc.verify'],
  scrub: (value) => ({
    ...value,
    externalId: null,
    faceId: undefined,
    autoEnrolledFaceId: undefined,
  }),
  scores: ({ similarity, matched }) => [
    { kind: 'similarity', value: similarity, isMatched: matched },
  ],
  checkCall: isSubjectComparison,
  run: (call) => (isSubjectComparison(call) ? compareWithSubject(call) : compareWithImage(call)),
})

/** @throws ActionError INVALID_REQUEST if mode, ids and number of images contradict each other. */
function isSubjectComparison({ params }: VerifyCall): boolean {
  requireOneId(params)
  const hasSubject = params.subjectId !== undefined || params.externalId !== undefined
  const inferredMode = hasSubject ? 'imageToSubject' : 'imageToImage'
  const mode = params.mode ?? inferredMode
  if (mode !== inferredMode)
    throw invalidRequest(
      mode === 'imageToSubject'
        ? 'params.mode: imageToSubject needs subjectId or externalId'
        : 'params.mode: imageToImage takes neither subjectId nor externalId',
    )
  if (params.sameSubject) {
    if (!hasSubject)
      throw invalidRequest(
        'params.sameSubject: needs subjectId or externalId; without them verify compares two images',
      )
    requireFrames(params)
    return true
  }
  if (params.images.length !== (hasSubject ? 1 : 2))
    throw invalidRequest(
      `params.images: ${mode} takes exactly ${hasSubject ? 'one image' : 'two images'}`,
      {
        hint: imageCountHints[hasSubject ? 'subject' : params.images.length === 1 ? 'one' : 'many'],
      },
    )
  return hasSubject
}

/** What to change in a call with another number of images, by what it has. */
const imageCountHints = {
  subject:
    'Remove the second image, or the subject; with sameSubject true, all images show the person to compare with the subject.',
  one: 'Add the image to compare with, or send the subjectId or externalId of the subject to compare with.',
  many: 'Send two images: the probe and the image to compare it with.',
} as const

async function compareWithImage(call: VerifyCall) {
  const { images } = call.params
  const [probe, reference] = await extractBoth(call)
  if (!probe || !reference) throw new Error('a comparison has two images')
  const [probeFace, referenceFace] = [probe.faces[0], reference.faces[0]]
  const match = call.services.matching.compare(probeFace.template, referenceFace.template)
  const value = {
    ...toMatchValue(call, match),
    mode: 'imageToImage' as const,
    probe: toFaceValue(probe.analysis, probeFace, 0),
    reference: toFaceValue(reference.analysis, referenceFace, 0),
    image: toImageFacts(probe.analysis),
    ...debugInfo(call.debug, probe.analysis, probeFace, { scores: { recognizer: match.score } }),
  }
  const decision = comparisonDecision({ ...value, qualityScore: probeFace.qualityScore })
  return [{ correlationId: images[0]?.correlationId, value, decision }]
}

async function extractBoth(call: VerifyCall) {
  using reserved = reserveImages(call, call.params.images)
  const extract = (index: number) => extractOrRefuse(index, () => extractImage(reserved, index))
  return requireUsable(await Promise.all([extract(0), extract(1)]))
}

async function compareWithSubject(call: VerifyCall) {
  const { params, caller, services } = call
  const { subjects, matching } = services
  const extract = await subjects.read((reading) => extractOptionsFor(call, reading))
  const { analysis, faces } = params.sameSubject
    ? await extractMergedProbe({ ...call, extract }, params.images)
    : await extractImage(call, 0, extract)
  const [probe] = faces
  return {
    effect: async (tx: Tx) => {
      await subjects.lock(tx, caller.galleryId, caller.switches.autoEnroll ? 'exclusive' : 'shared')
      const subject = await findSubject(call, tx)
      const match = await matching.matchSubject(tx, subject, probe.probes)
      if (!match)
        throw new ActionError('MODEL_MISMATCH', 'the subject has no template of a loaded model', {
          subjectId: subject.subjectId,
        })
      const best = await matching.lowerDenied(tx, subject, { probes: probe.probes, match })
      const matchValue = toMatchValue(call, best)
      if (matchValue.matched) await matching.recordMatches(tx, caller, [subject.subjectId])
      const autoEnrolledFaceId = matchValue.matched
        ? await autoEnroll(call, tx, subject, { probe, best })
        : undefined
      const value = {
        ...matchValue,
        mode: 'imageToSubject' as const,
        probe: toFaceValue(analysis, probe, 0),
        reference: null,
        subjectId: subject.subjectId,
        externalId: subject.externalId,
        faceId: best.faceId,
        ...(autoEnrolledFaceId !== undefined && { autoEnrolledFaceId }),
        image: toImageFacts(analysis),
        ...debugInfo(call.debug, analysis, probe, {
          scores: { recognizer: best.score },
          modelIds: [best.modelId],
        }),
      }
      const { correlationId } = params.images[0] ?? {}
      const decision = comparisonDecision({ ...matchValue, qualityScore: probe.qualityScore })
      await storeNearMiss(call, tx, { ...probe, subject, decision })
      return [{ correlationId, subjectIds: [subject.subjectId], value, decision }]
    },
  }
}

/** Only the first image must be live: the second may be a passport. */
function extractImage(call: VerifyCall, index: number, extract: ExtractOptions = {}) {
  const image = call.params.images[index]
  if (!image) throw new RangeError(`params.images[${index}] does not exist`)
  const requireLiveness = call.params.requireLiveness && index === 0
  return extractProbes(
    { ...call, extract, params: { ...call.params, requireLiveness } },
    image,
    index,
  )
}

/** Returns the previous models of the subject, and whether to extract a crop to store. */
async function extractOptionsFor(call: VerifyCall, reading: ReadTx): Promise<ExtractOptions> {
  const { subjects, matching } = call.services
  const models = await matching.modelsOf(reading, await findSubject(call, reading))
  const switches = await subjects.switches(reading, call.caller.projectId)
  const storesFace = !models.hasActive && switches.autoEnroll && switches.storeCrops
  return { previousTemplates: models.former, contextCrops: storesFace || switches.nearMissCrops }
}

/** @throws ActionError SUBJECT_NOT_FOUND. */
async function findSubject({ params, caller, services }: VerifyCall, reading: ReadTx) {
  const subject = await services.subjects.find(reading, caller.galleryId, subjectLookup(params))
  return subject ?? subjectNotFound(params)
}

function toMatchValue({ params, services }: VerifyCall, { similarity, modelId }: MatchScore) {
  const threshold = params.threshold === 'auto' ? verifyThreshold : params.threshold
  const matched = similarity >= threshold
  const matchLevel = matchLevelOf(similarity)
  const source = services.matching.calibrationSource([modelId])
  return {
    matched,
    similarity,
    matchLevel,
    threshold,
    thresholds,
    calibration: source,
    ...toWarnings(...zeroThreshold(params)),
  }
}
