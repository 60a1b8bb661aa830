import type { ImageContext } from '../image-context.ts'
import type { Detection } from './detection.ts'

/** Finds the faces of an image. */
export type Detector = {
  /** "id@version" of the models, joined by "+". */
  readonly providers: string
  /** Returns the faces for which `isWanted` is true, the most confident first. */
  readonly detectFaces: (context: ImageContext, isWanted: FacePredicate) => Promise<Detection[]>
}

/** `isWanted` is called before and after a face is confirmed, which can lower its confidence. */
export type FacePredicate = (face: Detection) => boolean
