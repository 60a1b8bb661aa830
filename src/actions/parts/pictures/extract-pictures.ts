import { ActionError, toProblem } from '../../../lib/errors.ts'
import type { ImageAnalysis } from '../../../vision/image-analysis.ts'
import type { EncodedImage } from '../../../vision/image/input/encoded-image.ts'
import {
  extractProbes,
  reserveImages,
  type ExtractCall,
  type ExtractOptions,
  type ProbeFace,
  type ProbeParams,
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

type ExtractPicturesCall = ExtractCall<ProbeParams> & { readonly extract: ExtractOptions }

/** Extracts the main face of each image. An image that cannot be used does not affect the others. */
export async function extractPictures(
  call: ExtractPicturesCall,
  images: readonly EncodedImage[],
): Promise<readonly (ExtractedPicture | RefusedPicture)[]> {
  using reserved = reserveImages(call, images)
  return await Promise.all(
    images.map(async (image, index) => {
      try {
        const { analysis, faces } = await extractProbes(reserved, image, index)
        return { index, analysis, probe: faces[0] }
      } catch (error) {
        if (error instanceof ActionError) return { index, error }
        throw error
      }
    }),
  )
}

/** Returns the error of a picture with its position. */
export function withImageIndex({ index, error }: RefusedPicture): ActionError {
  return error.mapProblems((problem) => toProblem({ imageIndex: index, ...problem }))
}
