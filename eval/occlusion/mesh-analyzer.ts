import { readConfig } from '../../src/config.ts'
import { modelsFolderOf } from '../../src/start/store-location.ts'
import { builtinSet } from '../../src/models/model-set.ts'
import { prepareBuiltinPack } from '../../src/models/builtin/prepare-builtin-pack.ts'
import { decodeImage, configureDecoder } from '../../src/vision/image/decode.ts'
import type { Detection } from '../../src/vision/detect/detection.ts'
import { openDetector } from '../../src/vision/detect/open-detector.ts'
import { openMeshLandmarker } from '../../src/vision/landmarks/mesh-landmarker.ts'
import { centreOf, type Rect } from '../../src/vision/image/geometry.ts'
import type { Mesh } from '../../src/vision/landmarks/mesh.ts'
import { createImagePyramid, type PlanarCrop } from '../../src/vision/image/pyramid.ts'
import { createModelSessions } from '../../src/vision/model-sessions.ts'
import type { ImageContext } from '../../src/vision/image-context.ts'
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
  const readContext = async (bytes: Buffer): Promise<ImageContext> => {
    const image = await decodeImage(bytes, pixelsMax, 'image')
    const pyramid = createImagePyramid(image)
    const stopwatch = createStopwatch()
    return { image, pyramid, stopwatch, fitMesh: landmarker.forImage({ pyramid, stopwatch }) }
  }
  const detectFaces = (context: ImageContext) => detector.detectFaces(context, { isWanted })
  return {
    sessions,
    readContext,
    detectFaces,
    close: sessions.close,
    async analyzeImage(bytes: Buffer): Promise<MeshAnalysis | undefined> {
      const context = await readContext(bytes)
      const { frame } = context.image
      const faces = await detectFaces(context)
      const [central] = faces.toSorted(
        (a, b) => distanceToCentre(a.box, frame) - distanceToCentre(b.box, frame),
      )
      if (!central) return undefined
      const { width, height } = frame
      return { mesh: await context.fitMesh(central), size: { width, height } }
    },
  }
}

/** A detection from the default of `minFaceConfidence` on. */
export const isWanted = ({ confidence }: Detection): boolean => confidence >= 0.6

const pixelsMax = 1e8

/** Returns the distance between the centre of the box and the centre of the frame, in px. */
function distanceToCentre(box: Rect, frame: MeshAnalysis['size']): number {
  const { x, y } = centreOf(box)
  return Math.hypot(x - frame.width / 2, y - frame.height / 2)
}

/** Returns the mean colour at four points of the cheeks, red, green, blue, 0..255. */
export function skinOf({ mesh: { crop, cropPoints } }: MeshAnalysis): number[] {
  const points = [50, 280, 205, 425].map((index) => cropPoints[index] ?? { x: 96, y: 96 })
  const clamp = (value: number): number => Math.max(0, Math.min(crop.width - 1, Math.floor(value)))
  const mean = (plane: number): number =>
    points.reduce((sum, { x, y }) => sum + valueAt(crop, plane, clamp(x), clamp(y)), 0) / 4
  return [mean(0), mean(1), mean(2)]
}

function valueAt(
  { planes, width, height }: PlanarCrop,
  plane: number,
  x: number,
  y: number,
): number {
  return planes[plane * width * height + y * width + x] ?? 0
}
