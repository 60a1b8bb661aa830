import { readFile } from 'node:fs/promises'
import type { Look, Picture, SeenFace, Template, View } from '../src/vision/view.ts'
import type { LabelledPicture } from './face-set.ts'

/** How a picture of a known person is looked at: like an enrolment, but several faces may be there. */
export const lookForTemplates: Look = {
  minFaceConfidence: 0.6,
  minFaceSizePx: 20,
  maxFaces: 20,
  crops: false,
  templates: true,
}

/**
 * The template of the face nearest the centre of each picture, `undefined` where there is none; in
 * the order of `pictures`.
 */
export async function gatherTemplates(
  pictures: readonly LabelledPicture[],
  look: (picture: Picture) => Promise<View>,
  onProgress: (done: number, total: number) => void,
): Promise<(Template | undefined)[]> {
  const templates: (Template | undefined)[] = pictures.map(() => undefined)
  let done = 0
  const waiting = pictures.entries()
  const takeTurns = async (): Promise<void> => {
    for (const [index, { file }] of waiting) {
      templates[index] = centralFace(await look(await readPicture(file)))?.template
      onProgress(++done, pictures.length)
    }
  }
  await Promise.all(Array.from({ length: atOnce }, takeTurns))
  return templates
}

/** Enough to keep every worker busy, few enough to hold in memory. */
const atOnce = 16

async function readPicture(file: string): Promise<Picture> {
  const bytes = await readFile(file)
  const contentType = bytes[0] === 0x89 ? 'image/png' : 'image/jpeg'
  return { bytes: bytes.toString('base64'), contentType }
}

function centralFace({ width, height, faces }: View): SeenFace | undefined {
  const distance = ({ boundingBox: box }: SeenFace): number =>
    Math.hypot(box.left + (box.width - width) / 2, box.top + (box.height - height) / 2)
  return faces.toSorted((a, b) => distance(a) - distance(b))[0]
}
