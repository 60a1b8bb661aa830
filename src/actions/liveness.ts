import { z } from 'zod'
import { invalidRequest } from '../lib/errors.ts'
import type { EncodedImage } from '../vision/image/input/encoded-image.ts'
import { defineAction, type ActionCall } from './action.ts'
import { imageErrors } from './parts/action-errors.ts'
import { answerChallenge, requireSmallFrames } from './parts/challenge/answer-challenge.ts'
import { livenessCallDecision } from './parts/call-decisions.ts'
import { classifyLiveness } from './parts/classify-liveness.ts'
import { imageFields, toFaceValue } from './parts/response-fields.ts'
import { withLiveness, findFaces } from './parts/extract-probes.ts'
import { analyzeEachImage, isFlagSet } from './parts/pictures/extract-pictures.ts'
import { attemptSessionId, challengeResult } from './schemas/challenge.ts'
import examples from './schemas/examples.json' with { type: 'json' }
import * as fields from './schemas/fields.ts'
import { allImages, images } from './schemas/images.ts'
import { livenessDecision } from './schemas/liveness.ts'
import texts from './schemas/field-texts.json' with { type: 'json' }

const livenessParams = z
  .strictObject({
    images,
    allImages: allImages.describe(texts.liveness.allImages),
    livenessSessionId: attemptSessionId.optional(),
    threshold: fields.livenessThreshold,
    ...fields.faceParams,
  })
  .meta({ id: 'LivenessParams' })

const livenessValue = z
  .object({
    ...livenessDecision.shape,
    face: fields.face,
    faceCount: z.int().min(1),
    image: fields.imageFacts,
    challenge: challengeResult.optional().describe(texts.liveness.challenge),
    warnings: fields.warnings,
    debug: fields.debug,
  })
  .meta({
    id: 'LivenessValue',
    description: texts.liveness.value,
  })

type LivenessCall = ActionCall<z.output<typeof livenessParams>>

/** Decides whether the image shows a live person or a picture of one. */
export const liveness = defineAction({
  name: 'svc.liveness',
  summary:
    'Decide whether the camera recorded a live person, or a print or screen that shows one: passively from one image, or from the frames of an attempt in a liveness session.',
  price: (imageCount, params) => (isFlagSet(params, 'allImages') ? 2 * imageCount : 2),
  params: livenessParams,
  resultPerImage: 'allImages',
  // Also the frames of an attempt.
  analyzesAllImages: (params) =>
    isFlagSet(params, 'allImages') || Object.hasOwn(Object(params), 'livenessSessionId'),
  value: livenessValue,
  errors: [
    ...imageErrors,
    'NO_FACE_FOUND',
    'FACE_TOO_SMALL',
    'MULTIPLE_FACES',
    'LOW_QUALITY',
    'LIVENESS_SESSION_NOT_FOUND',
  ],
  example: examples['svc.liveness'],
  scores: ({ score, live }) => [{ kind: 'liveness', value: score, isMatched: live }],
  checkCall: ({ params }) => {
    // The attempt is not spent: the call is refused before it is read.
    if (params.livenessSessionId === undefined) return
    requireSmallFrames(params.images)
    if (params.allImages)
      throw invalidRequest(
        'params.allImages: must be false or absent with livenessSessionId; the images of an attempt are frames of one person and give one result',
      )
  },
  run: async (call) => {
    const { livenessSessionId } = call.params
    if (livenessSessionId === undefined)
      return (await analyzeEachImage(call, checkImage)).map((outcome) =>
        'value' in outcome
          ? { ...outcome, decision: livenessCallDecision(outcome.value) }
          : outcome,
      )
    return answerChallenge({ ...call, params: { ...call.params, livenessSessionId } })
  },
})

/** The passive check of one image. */
async function checkImage(call: LivenessCall, image: EncodedImage, index: number) {
  const { threshold } = call.params
  const { analysis, faces } = await findFaces(call, image, index, { liveness: true })
  const largest = withLiveness(faces[0])
  const warnings = threshold === 0 ? ['threshold 0 classifies every face as live'] : []
  return {
    ...classifyLiveness(largest, analysis, { threshold, requireSingleFace: true }),
    face: toFaceValue(analysis, largest, 0),
    faceCount: analysis.faceCount,
    ...imageFields(call, analysis, largest, ...warnings),
  }
}
