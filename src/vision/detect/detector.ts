import type { ImageContext } from '../image-context.ts'
import type { Detection } from './detection.ts'

/** Finds the faces of an image. */
export type Detector = {
  /** "id@version" of the models, joined by "+". */
  readonly providers: string
  /**
   * Returns the faces for which `isWanted` is true, the most confident first. If there are none,
   * returns the faces for which `isFallback` is true.
   */
  readonly detectFaces: (context: ImageContext, selection: FaceSelection) => Promise<Detection[]>
}

/** The predicates of `Detector.detectFaces`. */
export type FaceSelection = {
  readonly isWanted: FacePredicate
  readonly isFallback?: FacePredicate
}

export type FacePredicate = (face: Detection) => boolean
