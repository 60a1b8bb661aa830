import { z } from 'zod'
import { defineAction } from './action.ts'
import {
  appearance,
  toAppearance,
  attributesToRead,
  allAppearanceNames,
  include,
  unavailable,
} from './parts/appearance.ts'
import { debugInfo } from './parts/candidates.ts'
import { attributesExample } from './schemas/examples.ts'
import { toFaceValue, toImageFacts } from './parts/face-value.ts'
import {
  debug,
  face,
  facePolicy,
  imageFacts,
  images,
  minFaceConfidence,
  minFaceSize,
  minQuality,
} from './schemas/fields.ts'
import { imageErrors } from './parts/action-errors.ts'
import { findFaces } from './parts/extract-probes.ts'

const attributesParams = z
  .strictObject({
    images,
    include,
    minFaceConfidence,
    minFaceSize,
    facePolicy: facePolicy('largest'),
    minQuality: minQuality(0),
  })
  .meta({ id: 'AttributesParams' })

/** What one face looks like; what has no model is said to have none, and never guessed. */
export const attributes = defineAction({
  name: 'svc.attributes',
  summary:
    'Tell what the largest face of an image looks like: age, gender, expression, eyes, mouth.',
  price: () => 1,
  params: attributesParams,
  value: z
    .object({ face, attributes: appearance, unavailable, image: imageFacts, debug })
    .meta({ id: 'AttributesValue' }),
  errors: [...imageErrors, 'NO_FACE_FOUND', 'MULTIPLE_FACES', 'FACE_TOO_SMALL', 'LOW_QUALITY'],
  example: attributesExample,
  run: async (call) => {
    const { images, include = allAppearanceNames } = call.params
    const wanted = [...new Set(include)]
    const also = { attributes: attributesToRead(wanted, call.caller) }
    const { view, faces } = await findFaces(call, images[0], 0, also)
    const [seen] = faces
    const value = {
      face: toFaceValue(view, seen, 0),
      ...toAppearance(seen, wanted),
      image: toImageFacts(view),
      ...debugInfo(call.debug, view, seen),
    }
    return [{ correlationId: images[0].correlationId, value }]
  },
})
