import { builtinPack } from '../models/builtin.ts'
import type { Rect } from './geometry.ts'
import { landmarks68 } from './landmarks.ts'
import { faceMesh, cropOver, cropAround } from './mesh.ts'
import type { Mesh } from './mesh.ts'
import type { Examine, Scene } from './scene.ts'
import { providersOf } from './sessions.ts'
import type { Sessions } from './sessions.ts'

/** Takes close looks: lays the mesh over the face in a box. */
export type Examiner = {
  /** "id@version" of the models. */
  readonly providers: string
  /** The look at the boxes of one scene, each box once. */
  readonly over: (scene: Pick<Scene, 'pyramid' | 'watch'>) => Examine
}

/** The landmark network finds the face's place in a box, the mesh its shape; always built in. */
export async function openExaminer(sessions: Sessions): Promise<Examiner> {
  const landmarks = await sessions.builtin('face_landmark_68')
  const mesh = await sessions.builtin('facemesh')
  const { models } = builtinPack
  return {
    providers: providersOf([models.face_landmark_68, models.facemesh]),
    over({ pyramid, watch }) {
      const known = new Map<Rect, Mesh>()
      return async ({ box, points }) => {
        const before = known.get(box)
        if (before) return before
        const found = await watch.time('landmarks', async () => {
          const toFrame = points
            ? cropOver(box, points)
            : cropAround(await landmarks68(landmarks, pyramid, box))
          return faceMesh(mesh, pyramid, toFrame)
        })
        known.set(box, found)
        return found
      }
    },
  }
}
