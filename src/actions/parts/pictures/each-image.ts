import { ActionError, toProblem, type ActionProblem } from '../../../lib/errors.ts'
import type { EncodedImage } from '../../../vision/image/input/encoded-image.ts'
import type { ActionCall, ItemOutcome, ItemOutcomes } from '../../action.ts'
import { reserveImages } from '../extract-probes.ts'

type ImageToAnalyze = EncodedImage & { readonly correlationId?: string | undefined }

type EachImageParams = {
  readonly images: readonly [ImageToAnalyze, ...ImageToAnalyze[]]
  readonly allImages: boolean
}

type AnalyzeOne<Params, Value> = (
  call: ActionCall<Params>,
  image: ImageToAnalyze,
  index: number,
) => Promise<Value>

/**
 * Runs an action on `images[0]` or, with `allImages`, on each image. With `allImages`, an image that
 * cannot be analyzed is a failed item and does not affect the others.
 *
 * @throws ActionError of `images[0]` without `allImages`. @throws HttpError 503 if there is no room.
 */
export async function analyzeEachImage<Params extends EachImageParams, Value>(
  call: ActionCall<Params>,
  analyze: AnalyzeOne<Params, Value>,
): Promise<ItemOutcomes<Value>> {
  const { images, allImages } = call.params
  if (!allImages) {
    const [{ correlationId }] = images
    return [{ correlationId, value: await analyze(call, images[0], 0) }]
  }
  using reserved = reserveImages(call, images)
  return await Promise.all(
    images.map(async (image, index): Promise<ItemOutcome<Value>> => {
      const { correlationId } = image
      try {
        return { correlationId, value: await analyze(reserved, image, index) }
      } catch (error) {
        if (error instanceof ActionError)
          return { correlationId, error: problemOfImage(error, index) }
        throw error
      }
    }),
  )
}

/** Returns the first problem of an image with the position of the image. */
function problemOfImage(error: ActionError, imageIndex: number): ActionProblem {
  const [problem] = error.problems
  if (!problem) throw new Error('an ActionError has at least one problem')
  return toProblem({ imageIndex, ...problem })
}

/**
 * Returns whether the parameters of a request, before their validation, set a flag that makes the
 * action analyze all images. The price of a call is determined before its validation.
 */
export function isFlagSet(params: unknown, flag: 'allImages' | 'sameSubject' | 'force'): boolean {
  return (Object(params) as Readonly<Record<string, unknown>>)[flag] === true
}
