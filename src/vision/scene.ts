import type { Detection } from './agreement.ts'
import type { Upright } from './frame.ts'
import type { Mesh } from './mesh.ts'
import type { Pyramid } from './pyramid.ts'
import type { Stopwatch } from './stopwatch.ts'

/** One picture while it is looked at: what every stage may ask. */
export type Scene = {
  readonly upright: Upright
  readonly pyramid: Pyramid
  readonly examine: Examine
  readonly watch: Stopwatch
}

/**
 * The mesh of the face in a box of the frame, laid by its points where they are known. Asked twice
 * for one box it answers without a second run.
 */
export type Examine = (place: Pick<Detection, 'box' | 'points'>) => Promise<Mesh>

/** One face of a scene, in continuous coordinates of the frame. */
export type Found = { readonly detection: Detection; readonly mesh: Mesh }
