import { builtinPack } from '../../models/builtin/builtin-pack.ts'
import type { FitMesh, ImageContext } from '../image-context.ts'
import type { Rect } from '../image/geometry.ts'
import { formatProviders } from '../model-sessions.ts'
import type { ModelSessions } from '../model-sessions.ts'
import { predictLandmarks68 } from './landmarks-68.ts'
import { predictMesh, meshCropFromBox, meshCropFromLandmarks } from './mesh.ts'
import type { Mesh } from './mesh.ts'

/** Fits the mesh to the face in a box. */
export type MeshLandmarker = {
  /** "id@version" of the models, joined by "+". */
  readonly providers: string
  /** Returns a function for the boxes of one image. It runs the networks once per box. */
  readonly forImage: (context: Pick<ImageContext, 'pyramid' | 'stopwatch'>) => FitMesh
}

/**
 * The landmark network finds the position of the face in its box, the mesh network its shape. Both
 * are always the built-in networks.
 */
export async function openMeshLandmarker(sessions: ModelSessions): Promise<MeshLandmarker> {
  const landmarksSession = await sessions.openBuiltin('face_landmark_68')
  const meshSession = await sessions.openBuiltin('facemesh')
  const { models } = builtinPack
  return {
    providers: formatProviders([models.face_landmark_68, models.facemesh]),
    forImage({ pyramid, stopwatch }) {
      const cache = new Map<Rect, Mesh>()
      return async ({ box, landmarkPoints }) => {
        const cached = cache.get(box)
        if (cached) return cached
        const mesh = await stopwatch.time('landmarks', async () => {
          const toFrame = landmarkPoints
            ? meshCropFromBox(box, landmarkPoints)
            : meshCropFromLandmarks(await predictLandmarks68(landmarksSession, pyramid, box))
          return predictMesh(meshSession, pyramid, toFrame)
        })
        cache.set(box, mesh)
        return mesh
      }
    },
  }
}
