import { z } from 'zod'
import { ActionError } from '../lib/errors.ts'
import { adopt } from './adopt.ts'
import { defineAction, type ActionCall } from './action.ts'
import { faceErrors, imageErrors } from './image-errors.ts'
import { debugOf } from './candidates.ts'
import { verifyExample } from './examples.ts'
import { faceOf, imageOf } from './face.ts'
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
} from './fields.ts'
import { notFound } from './not-found.ts'
import { sight, type Wanted } from './sight.ts'

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

type Call = ActionCall<z.output<typeof verifyParams>>

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
  run: (call) => (isOfSubject(call) ? compareWithSubject(call) : compareWithImage(call)),
})

/** @throws ActionError INVALID_REQUEST when mode, ids and number of images do not go together. */
function isOfSubject({ params }: Call): boolean {
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

async function compareWithImage(call: Call) {
  const { images } = call.params
  const [probe, reference] = await Promise.all([look(call, 0), look(call, 1)])
  const [a, b] = [probe.faces[0], reference.faces[0]]
  const likeness = call.services.gallery.compare(a.template, b.template)
  const value = {
    ...valueOf(call, likeness.similarity),
    mode: 'imageToImage' as const,
    probe: faceOf(probe.view, a, 0),
    reference: faceOf(reference.view, b, 0),
    image: imageOf(probe.view),
    ...debugOf(call.debug, probe.view, a, { scores: { recognizer: likeness.score } }),
  }
  return [{ correlationId: images[0]?.correlationId, value }]
}

async function compareWithSubject(call: Call) {
  const { params, services } = call
  const { gallery } = services
  const wanted = await gallery.read((reading) => wantedFor(call, reading))
  const { view, faces } = await look(call, 0, wanted)
  return {
    effect: async (tx: Parameters<typeof gallery.remove>[0]) => {
      await gallery.hold(
        tx,
        call.caller.galleryId,
        call.caller.switches.adopt ? 'alone' : 'together',
      )
      const subject = await subjectOf(call, tx)
      const [seen] = faces
      const best = await gallery.best(tx, subject, seen.probes)
      if (!best)
        throw new ActionError(
          'MODEL_MISMATCH',
          'the subject has no template of a model that is loaded',
        )
      const value = valueOf(call, best.similarity)
      if (value.matched) await gallery.touch(tx, [subject.subjectId])
      const adoptedFaceId = value.matched
        ? await adopt(call, tx, subject, { seen, best })
        : undefined
      const outcome = {
        ...value,
        mode: 'imageToSubject' as const,
        probe: faceOf(view, seen, 0),
        reference: null,
        subjectId: subject.subjectId,
        externalId: subject.externalId,
        faceId: best.faceId,
        ...(adoptedFaceId !== undefined && { adoptedFaceId }),
        image: imageOf(view),
        ...debugOf(call.debug, view, seen, {
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
function look(call: Call, index: number, wanted: Wanted = {}) {
  const image = call.params.images[index]
  if (!image) throw new RangeError('there is no such image')
  const requireLiveness = call.params.requireLiveness && index === 0
  return sight({ ...call, wanted, params: { ...call.params, requireLiveness } }, image, index)
}

/** The models that know the subject; and, where the probe may be stored, what is stored of it. */
async function wantedFor(call: Call, reading: ReadingOf): Promise<Wanted> {
  const { gallery } = call.services
  const { former, isActive } = await gallery.modelsOf(reading, await subjectOf(call, reading))
  const switches = await gallery.switches(reading, call.caller.projectId)
  return {
    formerTemplates: former,
    contextCrops: !isActive && switches.adopt && switches.storeCrops,
  }
}

/** Both ids together must name one subject. @throws ActionError SUBJECT_NOT_FOUND. */
async function subjectOf({ params, caller, services }: Call, reading: ReadingOf) {
  const { gallery } = services
  const { subjectId: id, externalId: ownId } = params
  const found =
    id === undefined
      ? await gallery.find(reading, caller.galleryId, { externalId: ownId ?? '' })
      : await gallery.find(reading, caller.galleryId, { subjectId: id })
  if (!found || (ownId !== undefined && found.externalId !== ownId)) return notFound()
  return found
}

type ReadingOf = Parameters<Call['services']['gallery']['find']>[0]

function valueOf({ params, services }: Call, similarity: number) {
  const { threshold } = params
  const matched = similarity >= threshold
  const matchLevel = services.gallery.levelOf(similarity)
  return { matched, similarity, matchLevel, threshold, thresholds }
}
