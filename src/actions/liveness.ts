import { z } from 'zod'
import { defineAction } from './action.ts'
import { debugInfo } from './parts/candidates.ts'
import { livenessExample } from './schemas/examples.ts'
import { toFaceValue, toImageFacts } from './parts/face-value.ts'
import {
  debug,
  face,
  facePolicy,
  imageFacts,
  images,
  livenessThreshold,
  minFaceConfidence,
  minFaceSize,
  minQuality,
} from './schemas/fields.ts'
import { imageErrors } from './parts/action-errors.ts'
import { classifyLiveness, livenessReasons } from './parts/classify-liveness.ts'
import { withLiveness, findFaces } from './parts/extract-probes.ts'

const livenessParams = z
  .strictObject({
    images,
    threshold: livenessThreshold,
    minFaceConfidence,
    minFaceSize,
    facePolicy: facePolicy('largest'),
    minQuality: minQuality(0),
  })
  .meta({ id: 'LivenessParams' })

const livenessValue = z
  .object({
    decision: z.enum(['live', 'spoof', 'uncertain']).meta({
      description:
        'Passive, from one image; it looks for prints and screens, not for masks, deep fakes or injected images. A spoof is a result, not an error.',
    }),
    live: z.boolean().meta({ description: 'True for the decision `live` alone.' }),
    score: z.number().min(0).max(1).meta({ description: 'The higher, the more like a person.' }),
    threshold: z.number().min(0).max(1).meta({ description: 'Live from this score on.' }),
    reasons: z.array(z.enum(livenessReasons)).meta({
      description:
        'Why the decision is uncertain. LOW_QUALITY: the picture’s quality, or what it shows, does not suffice for a judgement. Beside a spoof, MULTIPLE_FACES says that there are others.',
    }),
    face,
    faceCount: z.int().min(1),
    image: imageFacts,
    debug,
  })
  .meta({
    id: 'LivenessValue',
    description: [
      'How often it is wrong (ISO/IEC 30107-3: APCER, attacks called live; BPCER, live people',
      'called spoofs) depends on the networks that are installed, and is measured by `facegate',
      'evaluate liveness`.',
      'On drawn prints and screens of people of LFW (simulations: no recorded attack was at hand),',
      'which it never saw, the recommended pack has APCER 11.0 % (the worse kind) and BPCER 6.6 %,',
      'and gives 16.6 % of the people no judgement. The built-in network is no gate: on such',
      'drawings of people whom its fit never saw it calls 0.3 % of attacks live and 0.1 % of people',
      'spoofs, and is uncertain of nearly everybody else.',
      'docs/liveness.md tells all of it.',
    ].join(' '),
  })

/** What is judged of a face, for answers about more than its liveness. */
export const livenessResult = livenessValue
  .pick({ decision: true, live: true, score: true, threshold: true, reasons: true })
  .meta({ id: 'LivenessJudgement' })

/** Is this a person in front of the camera, or a picture of one? */
export const liveness = defineAction({
  name: 'svc.liveness',
  summary:
    'Judge by one image, passively, whether the camera saw a person or a print or screen that shows one.',
  price: () => 2,
  params: livenessParams,
  value: livenessValue,
  errors: [...imageErrors, 'NO_FACE_FOUND', 'FACE_TOO_SMALL', 'MULTIPLE_FACES', 'LOW_QUALITY'],
  example: livenessExample,
  scores: ({ score, live }) => [{ kind: 'liveness', value: score, isMatched: live }],
  run: async (call) => {
    const { images, threshold } = call.params
    const { view, faces } = await findFaces(call, images[0], 0, { liveness: true })
    const seen = withLiveness(faces[0])
    const { reasons, ...judgement } = classifyLiveness(seen, view, {
      threshold,
      requireSingleFace: true,
    })
    const value = {
      ...judgement,
      reasons: [...reasons],
      face: toFaceValue(view, seen, 0),
      faceCount: view.faceCount,
      image: toImageFacts(view),
      ...debugInfo(call.debug, view, seen),
    }
    return [{ correlationId: images[0].correlationId, value }]
  },
})
