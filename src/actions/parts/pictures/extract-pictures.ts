import { ActionError, toProblem } from '../../../lib/errors.ts'
import type { ImageAnalysis } from '../../../vision/image-analysis.ts'
import type { EncodedImage } from '../../../vision/image/input/encoded-image.ts'
import type { ActionCall, ItemOutcome, ItemOutcomes } from '../../action.ts'
import {
  type ExtractCall,
  type ExtractOptions,
  type ProbeFace,
  type ProbeParams,
  extractProbes,
  reserveImages,
} from '../extract-probes.ts'

/** One of several pictures of a person, with its main face. */
export type ExtractedPicture = {
  /** Its position in `params.images`. */
  readonly index: number
  readonly analysis: ImageAnalysis
  readonly probe: ProbeFace
}

/** A picture that cannot be used. */
export type RefusedPicture = { readonly index: number; readonly error: ActionError }

/** Extracts the main face of each image. An image that cannot be used does not affect the others. */
export async function extractPictures(
  call: ExtractCall<ProbeParams> & { readonly extract: ExtractOptions },
  images: readonly EncodedImage[],
): Promise<readonly (ExtractedPicture | RefusedPicture)[]> {
  using reserved = reserveImages(call, images)
  return await Promise.all(
    images.map((image, index) =>
      extractOrRefuse(index, async () => {
        const { analysis, faces } = await extractProbes(reserved, image, index)
        return { index, analysis, probe: faces[0] }
      }),
    ),
  )
}

/** Returns what `extract` returns, or the reason why the image cannot be used. */
export async function extractOrRefuse<Result>(
  index: number,
  extract: () => Promise<Result>,
): Promise<Result | RefusedPicture> {
  try {
    return await extract()
  } catch (error) {
    if (error instanceof ActionError) return { index, error }
    throw error
  }
}

/**
 * Returns the results of images that are all needed.
 *
 * @throws ActionError with the problems of every image that cannot be used.
 */
export function requireUsable<Result extends object>(
  outcomes: readonly (Result | RefusedPicture)[],
): readonly Result[] {
  const isRefused = (outcome: Result | RefusedPicture): outcome is RefusedPicture =>
    'error' in outcome && outcome.error instanceof ActionError
  const refused = outcomes.filter(isRefused)
  if (refused.length > 0) throw refusalError(refused)
  return outcomes.filter((outcome): outcome is Result => !isRefused(outcome))
}

/** Returns the problems of at least one image as one error, in the order of the images. */
export function refusalError(refused: readonly RefusedPicture[]): ActionError {
  const problems = refused
    .toSorted((a, b) => a.index - b.index)
    .flatMap(({ index, error }) =>
      error.problems.map((problem) => toProblem({ imageIndex: index, ...problem })),
    )
  return new ActionError(problems[0]?.code ?? 'INVALID_REQUEST', problems)
}

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
        if (!(error instanceof ActionError)) throw error
        // The first problem of an image, with the position of the image.
        return { correlationId, error: toProblem({ imageIndex: index, ...error.firstProblem }) }
      }
    }),
  )
}

/**
 * Returns whether the parameters of a request, before their validation, set a flag that makes the
 * action analyze all images. The price of a call is determined before its validation.
 */
export function isFlagSet(params: unknown, flag: 'allImages' | 'sameSubject' | 'force'): boolean {
  return (Object(params) as Readonly<Record<string, unknown>>)[flag] === true
}
