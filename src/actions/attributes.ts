import { z } from 'zod'
import type { EncodedImage } from '../vision/image/input/encoded-image.ts'
import { defineAction, type ActionCall } from './action.ts'
import { imageErrors } from './parts/action-errors.ts'
import {
  appearance,
  toAppearance,
  attributesToRead,
  allAppearanceNames,
  include,
  unavailable,
} from './parts/appearance.ts'
import { imageFields, toFaceValue } from './parts/response-fields.ts'
import { findFaces } from './parts/extract-probes.ts'
import { analyzeEachImage, isFlagSet } from './parts/pictures/extract-pictures.ts'
import examples from './schemas/examples.json' with { type: 'json' }
import { debug, face, faceParams, imageFacts, warnings } from './schemas/fields.ts'
import { allImages, images } from './schemas/images.ts'

const attributesParams = z
  .strictObject({ images, allImages, include, ...faceParams })
  .meta({ id: 'AttributesParams' })

type AttributesCall = ActionCall<z.output<typeof attributesParams>>

/** Estimates the attributes of one face. An attribute without a model is reported as unavailable. */
export const attributes = defineAction({
  name: 'svc.attributes',
  summary:
    'Estimate the attributes of the largest face of an image: age, gender, expression, eyes, mouth.',
  price: (imageCount, params) => (isFlagSet(params, 'allImages') ? imageCount : 1),
  params: attributesParams,
  resultPerImage: 'allImages',
  analyzesAllImages: (params) => isFlagSet(params, 'allImages'),
  value: z
    .object({ face, attributes: appearance, unavailable, image: imageFacts, warnings, debug })
    .meta({ id: 'AttributesValue' }),
  errors: [...imageErrors, 'NO_FACE_FOUND', 'MULTIPLE_FACES', 'FACE_TOO_SMALL', 'LOW_QUALITY'],
  example: examples['svc.attributes'],
  run: (call) => analyzeEachImage(call, estimateAttributes),
})

async function estimateAttributes(call: AttributesCall, image: EncodedImage, index: number) {
  const requested = [...new Set(call.params.include ?? allAppearanceNames)]
  const { analysis, faces } = await findFaces(call, image, index, {
    attributes: attributesToRead(requested, call.caller),
  })
  const [largest] = faces
  return {
    face: toFaceValue(analysis, largest, 0),
    ...toAppearance(largest, requested),
    ...imageFields(call, analysis, largest),
  }
}
