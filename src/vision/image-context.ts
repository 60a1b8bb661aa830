import type { Detection } from './detect/detection.ts'
import type { OrientedImage } from './image/decode.ts'
import type { ImagePyramid } from './image/pyramid.ts'
import type { Mesh } from './landmarks/mesh.ts'
import type { Stopwatch } from './stopwatch.ts'

/** One image during its analysis, with what every stage can use. */
export type ImageContext = {
  readonly image: OrientedImage
  readonly pyramid: ImagePyramid
  readonly fitMesh: FitMesh
  readonly stopwatch: Stopwatch
}

/**
 * Fits the mesh to the face in a box of the frame, starting from its eyes or landmark points if it has
 * any.
 * The result is cached by `box`: a second call with the same object does not run the networks.
 */
export type FitMesh = (face: Pick<Detection, 'box' | 'eyes' | 'landmarkPoints'>) => Promise<Mesh>

/** One face, in continuous coordinates of the frame. */
export type DetectedFace = { readonly detection: Detection; readonly mesh: Mesh }
