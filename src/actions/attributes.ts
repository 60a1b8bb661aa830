import { z } from 'zod'
import { defineAction } from './action.ts'
import {
  appearance,
  appearanceOf,
  attributesToRead,
  everyAppearance,
  include,
  unavailable,
} from './appearance.ts'
import { debugOf } from './candidates.ts'
import { attributesExample } from './examples.ts'
import { faceOf, imageOf } from './face.ts'
import {
  debug,
  face,
  facePolicy,
  imageFacts,
  images,
  minFaceConfidence,
  minFaceSize,
  minQuality,
} from './fields.ts'
import { imageErrors } from './image-errors.ts'
import { seeFaces } from './sight.ts'

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
    const { images, include = everyAppearance } = call.params
    const wanted = [...new Set(include)]
    const also = { attributes: attributesToRead(wanted, call.caller) }
    const { view, faces } = await seeFaces(call, images[0], 0, also)
    const [seen] = faces
    const value = {
      face: faceOf(view, seen, 0),
      ...appearanceOf(seen, wanted),
      image: imageOf(view),
      ...debugOf(call.debug, view, seen),
    }
    return [{ correlationId: images[0].correlationId, value }]
  },
})
