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
import { analyzeEachImage, isFlagSet } from './parts/pictures/each-image.ts'
import { faceExample, imageExample } from './schemas/examples.ts'
import { debug, face, faceParams, imageFacts, warnings } from './schemas/fields.ts'
import { allImages, images } from './schemas/images.ts'

const attributesParams = z
  .strictObject({ images, allImages, include, ...faceParams })
  .meta({ id: 'AttributesParams' })

type AttributesCall = ActionCall<z.output<typeof attributesParams>>

const example = {
  params: { include: ['age', 'gender', 'expression', 'eyesOpen', 'mouthOpen', 'glasses'] },
  value: {
    face: faceExample,
    attributes: {
      age: { value: 31.4, low: 21, high: 41 },
      gender: { value: 'female' as const, confidence: 0.984 },
      expression: {
        value: 'happy' as const,
        confidence: 0.91,
        scores: {
          neutral: 0.06,
          happy: 0.91,
          sad: 0.01,
          angry: 0.005,
          fearful: 0.005,
          disgusted: 0.005,
          surprised: 0.005,
        },
      },
      eyesOpen: { left: 1, right: 0.96 },
      mouthOpen: { value: false, confidence: 0.83 },
    },
    unavailable: ['glasses' as const],
    image: imageExample,
  },
}

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
  example,
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
