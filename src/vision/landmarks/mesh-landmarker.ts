import { builtinPack } from '../../models/builtin/builtin-pack.ts'
import type { Rect } from '../image/geometry.ts'
import { predictLandmarks68 } from './landmarks-68.ts'
import { predictMesh, meshCropFromBox, meshCropFromLandmarks } from './mesh.ts'
import type { Mesh } from './mesh.ts'
import type { FitMesh, ImageContext } from '../image-context.ts'
import { formatProviders } from '../model-sessions.ts'
import type { ModelSessions } from '../model-sessions.ts'

/** Takes close looks: lays the mesh over the face in a box. */
export type MeshLandmarker = {
  /** "id@version" of the models. */
  readonly providers: string
  /** The look at the boxes of one scene, each box once. */
  readonly forImage: (scene: Pick<ImageContext, 'pyramid' | 'stopwatch'>) => FitMesh
}

/** The landmark network finds the face's place in a box, the mesh its shape; always built in. */
export async function openMeshLandmarker(sessions: ModelSessions): Promise<MeshLandmarker> {
  const landmarks = await sessions.openBuiltin('face_landmark_68')
  const mesh = await sessions.openBuiltin('facemesh')
  const { models } = builtinPack
  return {
    providers: formatProviders([models.face_landmark_68, models.facemesh]),
    forImage({ pyramid, stopwatch: watch }) {
      const known = new Map<Rect, Mesh>()
      return async ({ box, landmarkPoints: points }) => {
        const before = known.get(box)
        if (before) return before
        const found = await watch.time('landmarks', async () => {
          const toFrame = points
            ? meshCropFromBox(box, points)
            : meshCropFromLandmarks(await predictLandmarks68(landmarks, pyramid, box))
          return predictMesh(mesh, pyramid, toFrame)
        })
        known.set(box, found)
        return found
      }
    },
  }
}
