import type { FaceResult, ImageAnalysis } from '../vision/image-analysis.ts'
import type { EncodedImage } from '../vision/image/input/encoded-image.ts'
import { analyzeFile, type UnusableReason } from './read-image.ts'

/** Analyzes one image and returns the face nearest its centre, or the reason if there is none. */
export async function analyzeCentralFace(
  file: string,
  analyzeImage: (image: EncodedImage) => Promise<ImageAnalysis>,
): Promise<FaceResult | { readonly unusable: UnusableReason }> {
  const analysis = await analyzeFile(file, analyzeImage)
  if ('unusable' in analysis) return analysis
  return findCentralFace(analysis) ?? { unusable: 'NO_FACE_FOUND' }
}

/** Returns the face whose box is nearest the image centre; undefined if no face was found. */
export function findCentralFace({ width, height, faces }: ImageAnalysis): FaceResult | undefined {
  const distanceToCentre = ({ boundingBox: box }: FaceResult): number =>
    Math.hypot(box.left + (box.width - width) / 2, box.top + (box.height - height) / 2)
  return faces.toSorted((a, b) => distanceToCentre(a) - distanceToCentre(b))[0]
}
