import { ActionError } from '../../lib/errors.ts'
import type {
  AnalysisRequest,
  EncodedImage,
  FaceResult,
  Template,
  ImageAnalysis,
} from '../../vision/image-analysis.ts'
import { readImage } from '../read-image.ts'
import type { LabelledImage } from '../face-set.ts'

/** How a picture of a known person is looked at; strangers may stand beside. */
export const templatesRequest: AnalysisRequest = {
  minFaceConfidence: 0.6,
  minFaceSizePx: 20,
  maxFaces: 20,
  crops: false,
  templates: true,
}

/** The template of a picture, or the code of the reason why it has none. */
export type ExtractedTemplate = Template | { readonly unusable: string }

/** The template of the face nearest the centre of each picture, in the order of `pictures`. */
export async function extractTemplates(
  pictures: readonly LabelledImage[],
  look: (picture: EncodedImage) => Promise<ImageAnalysis>,
  onProgress: (done: number, total: number) => void,
): Promise<ExtractedTemplate[]> {
  const gathered: ExtractedTemplate[] = []
  let done = 0
  const waiting = pictures.entries()
  const takeTurns = async (): Promise<void> => {
    for (const [index, { file }] of waiting) {
      gathered[index] = await extractTemplate(await readImage(file), look)
      onProgress(++done, pictures.length)
    }
  }
  await Promise.all(Array.from({ length: concurrency }, takeTurns))
  return gathered
}

/** Enough to keep every worker busy, few enough to hold in memory. */
const concurrency = 16

async function extractTemplate(
  picture: EncodedImage,
  look: (picture: EncodedImage) => Promise<ImageAnalysis>,
): Promise<ExtractedTemplate> {
  try {
    return findCentralFace(await look(picture))?.template ?? { unusable: 'NO_FACE_FOUND' }
  } catch (error) {
    if (error instanceof ActionError) return { unusable: error.code }
    throw error
  }
}

function findCentralFace({ width, height, faces }: ImageAnalysis): FaceResult | undefined {
  const distance = ({ boundingBox: box }: FaceResult): number =>
    Math.hypot(box.left + (box.width - width) / 2, box.top + (box.height - height) / 2)
  return faces.toSorted((a, b) => distance(a) - distance(b))[0]
}
