import type { FaceResult, ImageAnalysis } from '../vision/image-analysis.ts'

/** Returns the face whose box is nearest the image centre; undefined if no face was found. */
export function findCentralFace({ width, height, faces }: ImageAnalysis): FaceResult | undefined {
  const distanceToCentre = ({ boundingBox: box }: FaceResult): number =>
    Math.hypot(box.left + (box.width - width) / 2, box.top + (box.height - height) / 2)
  return faces.toSorted((a, b) => distanceToCentre(a) - distanceToCentre(b))[0]
}
