import { readConfig } from '../../src/config.ts'
import { modelsFolderOf } from '../../src/models-in-use.ts'
import { builtinSet } from '../../src/models/pack.ts'
import { preparePack } from '../../src/models/prepare.ts'
import { decode, prepareDecoder } from '../../src/vision/decode.ts'
import { openDetector } from '../../src/vision/detector.ts'
import { openExaminer } from '../../src/vision/examiner.ts'
import { centre } from '../../src/vision/geometry.ts'
import type { Rect } from '../../src/vision/geometry.ts'
import type { Mesh } from '../../src/vision/mesh.ts'
import { createPyramid } from '../../src/vision/pyramid.ts'
import { createSessions } from '../../src/vision/sessions.ts'
import { createStopwatch } from '../../src/vision/stopwatch.ts'

/** The face nearest the centre of a picture, in px of the picture. */
export type CloseLook = {
  readonly mesh: Mesh
  readonly size: { readonly width: number; readonly height: number }
}

/** Looks at pictures as the service does, with the built-in models, as far as the mesh. */
export async function openCloseLook() {
  const modelsFolder = modelsFolderOf(readConfig(process.env))
  await preparePack({ folder: modelsFolder })
  prepareDecoder()
  const sessions = createSessions(modelsFolder)
  const detector = await openDetector(builtinSet, sessions)
  const examiner = await openExaminer(sessions)
  return {
    close: sessions.close,
    async look(bytes: Buffer): Promise<CloseLook | undefined> {
      const upright = await decode(bytes, pixelsMax, 'picture')
      const pyramid = createPyramid(upright)
      const watch = createStopwatch()
      const examine = examiner.over({ pyramid, watch })
      const scene = { upright, pyramid, watch, examine }
      const found = await detector.find(scene, ({ confidence }) => confidence >= confidenceMin)
      const [central] = found.toSorted(
        (a, b) => off(a.box, upright.frame) - off(b.box, upright.frame),
      )
      if (!central) return undefined
      const { width, height } = upright.frame
      return { mesh: await examine(central), size: { width, height } }
    },
  }
}

const pixelsMax = 1e8
const confidenceMin = 0.6

/** px from the centre of the frame. */
function off(box: Rect, frame: CloseLook['size']): number {
  const { x, y } = centre(box)
  return Math.hypot(x - frame.width / 2, y - frame.height / 2)
}
