import type { AnalysisRequest, ImageAnalysis } from '../../vision/image-analysis.ts'
import type { EncodedImage } from '../../vision/image/input/encoded-image.ts'
import type { Template } from '../../vision/embed/template.ts'
import type { UnusableReason } from '../read-image.ts'
import type { LabelledImage } from '../face-set.ts'
import { analyzeCentralFace } from '../find-central-face.ts'
import { mapConcurrent } from '../map-concurrent.ts'

/** The request for an image of a known person. Other people may be in the image. */
export const templatesRequest: AnalysisRequest = {
  minFaceConfidence: 0.6,
  minFaceSizePx: 20,
  maxFaces: 20,
  crops: false,
  templates: true,
}

/** The template of an image, or the reason why it has none. */
export type ExtractedTemplate = Template | { readonly unusable: UnusableReason }

/** Returns the template of the face nearest the centre of each image, in the order of `images`. */
export function extractTemplates(
  images: readonly LabelledImage[],
  analyzeImage: (image: EncodedImage) => Promise<ImageAnalysis>,
  onProgress: (done: number, total: number) => void,
): Promise<ExtractedTemplate[]> {
  const extract = async ({ file }: LabelledImage): Promise<ExtractedTemplate> => {
    const face = await analyzeCentralFace(file, analyzeImage)
    return 'unusable' in face ? face : (face.template ?? { unusable: 'NO_FACE_FOUND' })
  }
  return mapConcurrent(images, extract, onProgress)
}
