import type { Frame } from '../../src/vision/image/decode.ts'
import type { Rect } from '../../src/vision/image/geometry.ts'
import { createImagePyramid } from '../../src/vision/image/pyramid.ts'
import { openMeshLandmarker } from '../../src/vision/landmarks/mesh-landmarker.ts'
import type { Mesh } from '../../src/vision/landmarks/mesh.ts'
import { createModelSessions } from '../../src/vision/model-sessions.ts'
import { createStopwatch } from '../../src/vision/stopwatch.ts'

/** Fits the whole mesh to the face in a box; an analysis returns only some of its points. */
type MeshReader = AsyncDisposable & {
  readonly readMesh: (frame: Frame, box: Rect) => Promise<Mesh>
}

/** @param modelsFolder the folder that `prepareBuiltinPack` filled. */
export async function openMeshReader(modelsFolder: string): Promise<MeshReader> {
  const sessions = createModelSessions(modelsFolder)
  const landmarker = await openMeshLandmarker(sessions)
  return {
    readMesh(frame, box) {
      const pyramid = createImagePyramid({ frame, highResFrame: () => Promise.resolve(frame) })
      return landmarker.forImage({ pyramid, stopwatch: createStopwatch() })({ box })
    },
    [Symbol.asyncDispose]: sessions.close,
  }
}
