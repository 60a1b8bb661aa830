import { readConfig } from '../../src/config.ts'
import { modelsFolderOf } from '../../src/start/store-location.ts'
import { builtinSet } from '../../src/models/model-set.ts'
import { prepareBuiltinPack } from '../../src/models/builtin/prepare-builtin-pack.ts'
import { decodeImage, configureDecoder } from '../../src/vision/image/decode.ts'
import { openDetector } from '../../src/vision/detect/open-detector.ts'
import { openMeshLandmarker } from '../../src/vision/landmarks/mesh-landmarker.ts'
import { centreOf, type Rect } from '../../src/vision/image/geometry.ts'
import type { Mesh } from '../../src/vision/landmarks/mesh.ts'
import { createImagePyramid } from '../../src/vision/image/pyramid.ts'
import { createModelSessions } from '../../src/vision/model-sessions.ts'
import { createStopwatch } from '../../src/vision/stopwatch.ts'

/** The mesh of the face nearest the image centre, in px of the image, and the image size. */
export type MeshAnalysis = {
  readonly mesh: Mesh
  readonly size: { readonly width: number; readonly height: number }
}

/** Opens an analyzer that detects faces and fits the mesh like the service, with the built-in models. */
export async function openMeshAnalyzer() {
  const modelsFolder = modelsFolderOf(readConfig(process.env))
  await prepareBuiltinPack({ folder: modelsFolder })
  configureDecoder()
  const sessions = createModelSessions(modelsFolder)
  const detector = await openDetector(builtinSet, sessions)
  const landmarker = await openMeshLandmarker(sessions)
  return {
    close: sessions.close,
    async analyzeImage(bytes: Buffer): Promise<MeshAnalysis | undefined> {
      const image = await decodeImage(bytes, pixelsMax, 'image')
      const pyramid = createImagePyramid(image)
      const stopwatch = createStopwatch()
      const fitMesh = landmarker.forImage({ pyramid, stopwatch })
      const context = { image, pyramid, stopwatch, fitMesh }
      const faces = await detector.detectFaces(context, {
        isWanted: ({ confidence }) => confidence >= confidenceMin,
      })
      const [central] = faces.toSorted(
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

/** Returns the distance between the centre of the box and the centre of the frame, in px. */
function distanceToCentre(box: Rect, frame: MeshAnalysis['size']): number {
  const { x, y } = centreOf(box)
  return Math.hypot(x - frame.width / 2, y - frame.height / 2)
}
