import { z } from 'zod'
import type { EncodedImage } from '../vision/image/input/encoded-image.ts'
import { defineAction, type ActionCall, type ItemOutcome, type ItemOutcomes } from './action.ts'
import { imageErrors } from './parts/action-errors.ts'
import { imageFields, toFaceValue } from './parts/response-fields.ts'
import { facesMax, findAllFaces } from './parts/extract-probes.ts'
import { analyzeEachImage, isFlagSet } from './parts/pictures/extract-pictures.ts'
import examples from './schemas/examples.json' with { type: 'json' }
import { debug, face, faceParams, imageFacts, warnings } from './schemas/fields.ts'
import { allImages, images } from './schemas/images.ts'
import texts from './schemas/field-texts.json' with { type: 'json' }

/**
 * Base64 characters of the crops of a call that are stored for replays: about forty faces. The crops of
 * ten group pictures have up to 10 MB, and would be stored for REPLAY_WINDOW_MS.
 */
export const storedCropsCharsMax = 256 * 1024

/** The same with `replayCrops`: a picture with 100 faces. A replay costs nothing, so it must be short. */
export const replayCropsCharsMax = 1024 * 1024

const detectParams = z
  .strictObject({
    images,
    allImages,
    maxFaces: z.int().min(1).max(facesMax).default(facesMax).describe(texts.detect.maxFaces),
    returnLandmarks: z.boolean().default(true),
    returnCrops: z.boolean().default(false).describe(texts.detect.returnCrops),
    replayCrops: z
      .boolean()
      .default(false)
      .meta({
        description: `Whether a replay contains crops of up to ${replayCropsCharsMax} characters together; by default, of up to ${storedCropsCharsMax}. With more, it has the flag \`meta.cropsOmitted\` instead.`,
      }),
    ...faceParams,
  })
  .meta({ id: 'DetectParams' })

type DetectCall = ActionCall<z.output<typeof detectParams>>

/** Detects every face of an image. An image without a face is not an error. */
export const detect = defineAction({
  name: 'svc.detect',
  summary: 'Detect the faces of an image: boxes, landmarks, pose and quality.',
  price: (imageCount, params) => (isFlagSet(params, 'allImages') ? imageCount : 1),
  params: detectParams,
  resultPerImage: 'allImages',
  analyzesAllImages: (params) => isFlagSet(params, 'allImages'),
  value: z
    .object({
      faceCount: z.int().min(0).describe(texts.detect.faceCount),
      faces: z.array(
        face.extend({
          crop: z.string().optional().describe(texts.detect.crop),
        }),
      ),
      image: imageFacts,
      warnings,
      debug,
    })
    .meta({ id: 'DetectValue' }),
  errors: [...imageErrors, 'MULTIPLE_FACES'],
  example: examples['svc.detect'],
  run: async (call) => {
    const outcomes = await analyzeEachImage(call, detectFaces)
    const { replayCrops } = call.params
    return omitLargeCrops(outcomes, replayCrops ? replayCropsCharsMax : storedCropsCharsMax)
  },
})

type DetectValue = Awaited<ReturnType<typeof detectFaces>>

/** Adds values without crops, for replays, if the crops of the call have more characters. */
export function omitLargeCrops(
  outcomes: ItemOutcomes<DetectValue>,
  charsMax: number,
): ItemOutcomes<DetectValue> {
  const faces = outcomes.flatMap((outcome) => ('value' in outcome ? outcome.value.faces : []))
  const cropChars = faces.reduce((sum, { crop = '' }) => sum + crop.length, 0)
  if (cropChars <= charsMax) return outcomes
  return outcomes.map((outcome): ItemOutcome<DetectValue> => {
    if (!('value' in outcome)) return outcome
    const bare = outcome.value.faces.map((face) => ({ ...face, crop: undefined }))
    return { ...outcome, valueWithoutCrops: { ...outcome.value, faces: bare } }
  })
}

async function detectFaces(call: DetectCall, image: EncodedImage, index: number) {
  const { returnCrops, returnLandmarks } = call.params
  const found = await findAllFaces(call, image, index, { crops: returnCrops })
  const { analysis, faceCount, faces } = found
  return {
    faceCount,
    faces: faces.map((one, faceIndex) => ({
      ...toFaceValue(analysis, one, faceIndex, { landmarks: returnLandmarks }),
      crop: one.crop,
    })),
    ...imageFields(call, analysis, faces[0]),
  }
}
