import type { Rect } from './geometry.ts'
import { landmarks68 } from './landmarks.ts'
import { faceMesh } from './mesh.ts'
import type { Mesh } from './mesh.ts'
import type { Pyramid } from './pyramid.ts'
import type { Session } from './session.ts'

/** Takes close looks at the boxes of one frame, each box once. */
export type Examiner = {
  readonly examine: (box: Rect) => Promise<Mesh>
  /** What all close looks took up to now, ms. */
  readonly spentMs: () => number
}

export function createExaminer(
  sessions: { readonly landmarks: Session; readonly mesh: Session },
  pyramid: Pyramid,
): Examiner {
  const known = new Map<Rect, Mesh>()
  let spentMs = 0
  return {
    async examine(box) {
      const before = known.get(box)
      if (before) return before
      const startMs = performance.now()
      const rough = await landmarks68(sessions.landmarks, pyramid, box)
      const mesh = await faceMesh(sessions.mesh, pyramid, rough)
      known.set(box, mesh)
      spentMs += performance.now() - startMs
      return mesh
    },
    spentMs: () => spentMs,
  }
}
