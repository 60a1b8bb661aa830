import { ActionError } from '../src/lib/errors.ts'
import type { Look, Picture, SeenFace, Template, View } from '../src/vision/view.ts'
import { readPicture } from './detection.ts'
import type { LabelledPicture } from './face-set.ts'

/** How a picture of a known person is looked at; strangers may stand beside. */
export const lookForTemplates: Look = {
  minFaceConfidence: 0.6,
  minFaceSizePx: 20,
  maxFaces: 20,
  crops: false,
  templates: true,
}

/** The template of a picture, or the code of the reason why it has none. */
export type Gathered = Template | { readonly unusable: string }

/** The template of the face nearest the centre of each picture, in the order of `pictures`. */
export async function gatherTemplates(
  pictures: readonly LabelledPicture[],
  look: (picture: Picture) => Promise<View>,
  onProgress: (done: number, total: number) => void,
): Promise<Gathered[]> {
  const gathered: Gathered[] = []
  let done = 0
  const waiting = pictures.entries()
  const takeTurns = async (): Promise<void> => {
    for (const [index, { file }] of waiting) {
      gathered[index] = await templateIn(await readPicture(file), look)
      onProgress(++done, pictures.length)
    }
  }
  await Promise.all(Array.from({ length: atOnce }, takeTurns))
  return gathered
}

/** Enough to keep every worker busy, few enough to hold in memory. */
const atOnce = 16

async function templateIn(
  picture: Picture,
  look: (picture: Picture) => Promise<View>,
): Promise<Gathered> {
  try {
    return centralFace(await look(picture))?.template ?? { unusable: 'NO_FACE_FOUND' }
  } catch (error) {
    if (error instanceof ActionError) return { unusable: error.code }
    throw error
  }
}

function centralFace({ width, height, faces }: View): SeenFace | undefined {
  const distance = ({ boundingBox: box }: SeenFace): number =>
    Math.hypot(box.left + (box.width - width) / 2, box.top + (box.height - height) / 2)
  return faces.toSorted((a, b) => distance(a) - distance(b))[0]
}
