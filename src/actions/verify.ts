import { z } from 'zod'
import { ActionError } from '../lib/errors.ts'
import { autoEnroll } from './parts/auto-enroll.ts'
import { defineAction, type ActionCall } from './action.ts'
import { faceErrors, imageErrors } from './parts/action-errors.ts'
import { debugInfo } from './parts/candidates.ts'
import { verifyExample } from './schemas/examples.ts'
import { toFaceValue, toImageFacts } from './parts/face-value.ts'
import {
  debug,
  externalId,
  face,
  facePolicy,
  imageBatch,
  imageFacts,
  livenessThreshold,
  matchLevel,
  minFaceConfidence,
  minFaceSize,
  minQuality,
  requireLiveness,
  similarity,
  subjectId,
} from './schemas/fields.ts'
import { subjectNotFound } from './parts/subject-not-found.ts'
import { extractProbes, type ExtractOptions } from './parts/extract-probes.ts'

const mode = z.enum(['imageToImage', 'imageToSubject'])

const verifyParams = z
  .strictObject({
    images: imageBatch.meta({
      description: 'The probe; and, where no subject is named, the picture to compare it with.',
    }),
    mode: mode
      .optional()
      .meta({ description: 'Said by the other parameters; refused when it contradicts them.' }),
    subjectId: subjectId.optional(),
    externalId: externalId.optional(),
    threshold: similarity.default(0.8),
    minFaceConfidence,
    minFaceSize,
    facePolicy: facePolicy('largest'),
    minQuality: minQuality(0),
    requireLiveness,
    livenessThreshold,
  })
  .meta({ id: 'VerifyParams' })

type VerifyCall = ActionCall<z.output<typeof verifyParams>>

/** What similarities promise, whatever the model. */
const thresholds = { fmr1e3: 0.7, fmr1e4: 0.8, fmr1e5: 0.9, fmr1e6: 0.95 }

/** Are these two the same person? */
export const verify = defineAction({
  name: 'svc.verify',
  summary: 'Compare a face with another image, or with a subject of the gallery.',
  price: () => 2,
  params: verifyParams,
  value: z
    .object({
      mode,
      matched: z.boolean(),
      similarity,
      matchLevel,
      threshold: similarity,
      thresholds: z
        .object({ fmr1e3: similarity, fmr1e4: similarity, fmr1e5: similarity, fmr1e6: similarity })
        .meta({ description: 'The similarity that strangers reach so often.' }),
      probe: face,
      reference: face.nullable(),
      subjectId: z.uuid().optional(),
      externalId: z.string().nullable().optional(),
      faceId: z.uuid().optional().meta({ description: 'The template that is most like the face.' }),
      adoptedFaceId: z.uuid().optional().meta({
        description:
          'The face was added to the subject, which no template of the active model knew: only in projects that have switched it on.',
      }),
      image: imageFacts,
      debug,
    })
    .meta({ id: 'VerifyValue' }),
  errors: ['SUBJECT_NOT_FOUND', ...imageErrors, ...faceErrors, 'MODEL_MISMATCH'],
  example: verifyExample,
  scrub: (value) => ({
    ...value,
    externalId: null,
    faceId: undefined,
    adoptedFaceId: undefined,
  }),
  scores: ({ similarity, matched }) => [
    { kind: 'similarity', value: similarity, isMatched: matched },
  ],
  run: (call) => (isSubjectComparison(call) ? compareWithSubject(call) : compareWithImage(call)),
})

/** @throws ActionError INVALID_REQUEST when mode, ids and number of images do not go together. */
function isSubjectComparison({ params }: VerifyCall): boolean {
  const namesSubject = params.subjectId !== undefined || params.externalId !== undefined
  const inferred = namesSubject ? 'imageToSubject' : 'imageToImage'
  const wanted = params.mode ?? inferred
  if (wanted !== inferred)
    throw new ActionError(
      'INVALID_REQUEST',
      wanted === 'imageToSubject'
        ? 'params.mode: imageToSubject needs subjectId or externalId'
        : 'params.mode: imageToImage takes neither subjectId nor externalId',
    )
  const count = namesSubject ? 1 : 2
  if (params.images.length !== count)
    throw new ActionError(
      'INVALID_REQUEST',
      `params.images: ${wanted} takes exactly ${count === 1 ? 'one image' : 'two images'}`,
    )
  return namesSubject
}

async function compareWithImage(call: VerifyCall) {
  const { images } = call.params
  const [probe, reference] = await Promise.all([extractProbe(call, 0), extractProbe(call, 1)])
  const [a, b] = [probe.faces[0], reference.faces[0]]
  const likeness = call.services.gallery.compare(a.template, b.template)
  const value = {
    ...toMatchValue(call, likeness.similarity),
    mode: 'imageToImage' as const,
    probe: toFaceValue(probe.analysis, a, 0),
    reference: toFaceValue(reference.analysis, b, 0),
    image: toImageFacts(probe.analysis),
    ...debugInfo(call.debug, probe.analysis, a, { scores: { recognizer: likeness.score } }),
  }
  return [{ correlationId: images[0]?.correlationId, value }]
}

async function compareWithSubject(call: VerifyCall) {
  const { params, services } = call
  const { gallery } = services
  const wanted = await gallery.read((reading) => extractOptionsFor(call, reading))
  const { analysis: view, faces } = await extractProbe(call, 0, wanted)
  return {
    effect: async (tx: Parameters<typeof gallery.remove>[0]) => {
      await gallery.lock(
        tx,
        call.caller.galleryId,
        call.caller.switches.adopt ? 'exclusive' : 'shared',
      )
      const subject = await findSubject(call, tx)
      const [seen] = faces
      const best = await gallery.matchSubject(tx, subject, seen.probes)
      if (!best)
        throw new ActionError(
          'MODEL_MISMATCH',
          'the subject has no template of a model that is loaded',
        )
      const value = toMatchValue(call, best.similarity)
      if (value.matched) await gallery.touch(tx, [subject.subjectId])
      const adoptedFaceId = value.matched
        ? await autoEnroll(call, tx, subject, { probe: seen, best })
        : undefined
      const outcome = {
        ...value,
        mode: 'imageToSubject' as const,
        probe: toFaceValue(view, seen, 0),
        reference: null,
        subjectId: subject.subjectId,
        externalId: subject.externalId,
        faceId: best.faceId,
        ...(adoptedFaceId !== undefined && { adoptedFaceId }),
        image: toImageFacts(view),
        ...debugInfo(call.debug, view, seen, {
          scores: { recognizer: best.score },
          modelIds: [best.modelId],
        }),
      }
      const { correlationId } = params.images[0] ?? {}
      return [{ correlationId, subjectIds: [subject.subjectId], value: outcome }]
    },
  }
}

/** The probe is whom the camera sees now; what it is compared with may be of a passport. */
function extractProbe(call: VerifyCall, index: number, wanted: ExtractOptions = {}) {
  const image = call.params.images[index]
  if (!image) throw new RangeError('there is no such image')
  const requireLiveness = call.params.requireLiveness && index === 0
  return extractProbes(
    { ...call, wanted, params: { ...call.params, requireLiveness } },
    image,
    index,
  )
}

/** The models that know the subject; and, where the probe may be stored, what is stored of it. */
async function extractOptionsFor(
  call: VerifyCall,
  reading: GalleryReading,
): Promise<ExtractOptions> {
  const { gallery } = call.services
  const { former, hasActive: isActive } = await gallery.modelsOf(
    reading,
    await findSubject(call, reading),
  )
  const switches = await gallery.switches(reading, call.caller.projectId)
  return {
    previousTemplates: former,
    contextCrops: !isActive && switches.adopt && switches.storeCrops,
  }
}

/** Both ids together must name one subject. @throws ActionError SUBJECT_NOT_FOUND. */
async function findSubject({ params, caller, services }: VerifyCall, reading: GalleryReading) {
  const { gallery } = services
  const { subjectId: id, externalId: ownId } = params
  const found =
    id === undefined
      ? await gallery.find(reading, caller.galleryId, { externalId: ownId ?? '' })
      : await gallery.find(reading, caller.galleryId, { subjectId: id })
  if (!found || (ownId !== undefined && found.externalId !== ownId)) return subjectNotFound()
  return found
}

type GalleryReading = Parameters<VerifyCall['services']['gallery']['find']>[0]

function toMatchValue({ params, services }: VerifyCall, similarity: number) {
  const { threshold } = params
  const matched = similarity >= threshold
  const matchLevel = services.gallery.matchLevelOf(similarity)
  return { matched, similarity, matchLevel, threshold, thresholds }
}
