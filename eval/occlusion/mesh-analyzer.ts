import { readConfig } from '../../src/config.ts'
import { modelsFolderOf } from '../../src/start/active-models.ts'
import { builtinSet } from '../../src/models/model-set.ts'
import { prepareBuiltinPack } from '../../src/models/builtin/prepare-builtin-pack.ts'
import { decodeImage, configureDecoder } from '../../src/vision/image/decode.ts'
import { openDetector } from '../../src/vision/detect/open-detector.ts'
import { openMeshLandmarker } from '../../src/vision/landmarks/mesh-landmarker.ts'
import { centreOf } from '../../src/vision/image/geometry.ts'
import type { Rect } from '../../src/vision/image/geometry.ts'
import type { Mesh } from '../../src/vision/landmarks/mesh.ts'
import { createImagePyramid } from '../../src/vision/image/pyramid.ts'
import { createModelSessions } from '../../src/vision/model-sessions.ts'
import { createStopwatch } from '../../src/vision/stopwatch.ts'

/** The face nearest the centre of a picture, in px of the picture. */
export type MeshAnalysis = {
  readonly mesh: Mesh
  readonly size: { readonly width: number; readonly height: number }
}

/** Looks at pictures as the service does, with the built-in models, as far as the mesh. */
export async function openMeshAnalyzer() {
  const modelsFolder = modelsFolderOf(readConfig(process.env))
  await prepareBuiltinPack({ folder: modelsFolder })
  configureDecoder()
  const sessions = createModelSessions(modelsFolder)
  const detector = await openDetector(builtinSet, sessions)
  const examiner = await openMeshLandmarker(sessions)
  return {
    close: sessions.close,
    async look(bytes: Buffer): Promise<MeshAnalysis | undefined> {
      const image = await decodeImage(bytes, pixelsMax, 'picture')
      const pyramid = createImagePyramid(image)
      const stopwatch = createStopwatch()
      const fitMesh = examiner.forImage({ pyramid, stopwatch })
      const scene = { image, pyramid, stopwatch, fitMesh }
      const found = await detector.detectFaces(
        scene,
        ({ confidence }) => confidence >= confidenceMin,
      )
      const [central] = found.toSorted(
        (a, b) => distanceToCentre(a.box, image.frame) - distanceToCentre(b.box, image.frame),
      )
      if (!central) return undefined
      const { width, height } = image.frame
      return { mesh: await fitMesh(central), size: { width, height } }
    },
  }
}

const pixelsMax = 1e8
const confidenceMin = 0.6

/** px from the centre of the frame. */
function distanceToCentre(box: Rect, frame: MeshAnalysis['size']): number {
  const { x, y } = centreOf(box)
  return Math.hypot(x - frame.width / 2, y - frame.height / 2)
}
