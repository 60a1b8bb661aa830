import type { Detection } from './detect/combine-detections.ts'
import type { OrientedImage } from './image/frame.ts'
import type { Mesh } from './landmarks/mesh.ts'
import type { ImagePyramid } from './image/pyramid.ts'
import type { Stopwatch } from './stopwatch.ts'

/** One picture while it is looked at: what every stage may ask. */
export type ImageContext = {
  readonly image: OrientedImage
  readonly pyramid: ImagePyramid
  readonly fitMesh: FitMesh
  readonly stopwatch: Stopwatch
}

/**
 * The mesh of the face in a box of the frame, laid by its points where they are known. Asked twice
 * for one box it answers without a second run.
 */
export type FitMesh = (place: Pick<Detection, 'box' | 'landmarkPoints'>) => Promise<Mesh>

/** One face of a scene, in continuous coordinates of the frame. */
export type DetectedFace = { readonly detection: Detection; readonly mesh: Mesh }
