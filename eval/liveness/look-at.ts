import { ActionError } from '../../src/lib/errors.ts'
import type { Liveness, Look, Picture, SeenFace, View } from '../../src/vision/view.ts'
import { readPicture } from '../detection.ts'
import type { Presentation } from './presentations.ts'

/** The largest face, as `svc.liveness` looks for it by default. */
const lookForLiveness: Look = {
  minFaceConfidence: 0.6,
  minFaceSizePx: 40,
  maxFaces: 1,
  crops: false,
  liveness: true,
}

/** What was seen of a presentation, or the code of the reason why nothing was. */
export type Judged = Presentation &
  (
    | { readonly view: View; readonly face: SeenFace & { readonly liveness: Liveness } }
    | { readonly unusable: string }
  )

/** Looks at all pictures, in their order. */
export async function lookAtAll(
  presentations: readonly Presentation[],
  look: (picture: Picture, look: Look) => Promise<View>,
  onProgress: (done: number, total: number) => void,
): Promise<Judged[]> {
  const judged: Judged[] = []
  let done = 0
  const waiting = presentations.entries()
  const takeTurns = async (): Promise<void> => {
    for (const [index, presentation] of waiting) {
      judged[index] = { ...presentation, ...(await seen(presentation.file, look)) }
      onProgress(++done, presentations.length)
    }
  }
  await Promise.all(Array.from({ length: atOnce }, takeTurns))
  return judged
}

/** Enough to keep every worker busy, few enough to hold in memory. */
const atOnce = 16

async function seen(file: string, look: (picture: Picture, look: Look) => Promise<View>) {
  try {
    const view = await look(await readPicture(file), lookForLiveness)
    const [face] = view.faces
    if (!face) return { unusable: 'NO_FACE_FOUND' }
    if (!face.liveness) throw new Error('liveness was asked for and did not come')
    return { view, face: { ...face, liveness: face.liveness } }
  } catch (error) {
    if (error instanceof ActionError) return { unusable: error.code }
    throw error
  }
}
