import type { Detection } from './agreement.ts'
import type { Upright } from './frame.ts'
import type { Rect } from './geometry.ts'
import type { Mesh } from './mesh.ts'
import type { Pyramid } from './pyramid.ts'
import type { Stopwatch } from './stopwatch.ts'

/** One picture while it is looked at: what every stage may ask. */
export type Scene = {
  readonly upright: Upright
  readonly pyramid: Pyramid
  /** The mesh in a box of the frame; asked twice for one box it answers without a second run. */
  readonly examine: (box: Rect) => Promise<Mesh>
  readonly watch: Stopwatch
}

/** One face of a scene, in continuous coordinates of the frame. */
export type Found = { readonly detection: Detection; readonly mesh: Mesh }
