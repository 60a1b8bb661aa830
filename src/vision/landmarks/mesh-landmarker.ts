import { builtinPack } from '../../models/builtin/builtin-pack.ts'
import type { FitMesh, ImageContext } from '../image-context.ts'
import type { Rect } from '../image/geometry.ts'
import type { ImagePyramid } from '../image/pyramid.ts'
import { formatProviders, type ModelSessions } from '../model-sessions.ts'
import type { ModelSession } from '../session.ts'
import {
  predictLandmarks68,
  predictMesh,
  meshCropFromBox,
  meshCropFromLandmarks,
  type Mesh,
} from './mesh.ts'

/** Fits the mesh to the face in a box. */
export type MeshLandmarker = Awaited<ReturnType<typeof openMeshLandmarker>>

/**
 * The detector or the landmark network finds the position of the face in its box, the mesh network its
 * shape. Both networks are always the built-in ones.
 */
export async function openMeshLandmarker(sessions: Pick<ModelSessions, 'openBuiltin'>) {
  const networks: Networks = {
    landmarks: await sessions.openBuiltin('face_landmark_68'),
    mesh: await sessions.openBuiltin('facemesh'),
  }
  const { models } = builtinPack
  return {
    /** "id@version" of the models, joined by "+". */
    providers: formatProviders([models.face_landmark_68, models.facemesh]),
    /** Returns a function for the boxes of one image. It runs the networks once per box. */
    forImage({ pyramid, stopwatch }: Pick<ImageContext, 'pyramid' | 'stopwatch'>): FitMesh {
      const cache = new Map<Rect, Mesh>()
      return async (face) => {
        const cached = cache.get(face.box)
        if (cached) return cached
        const mesh = await stopwatch.time('landmarks', () => fitMesh(networks, pyramid, face))
        cache.set(face.box, mesh)
        return mesh
      }
    },
  }
}

type Networks = { readonly landmarks: ModelSession; readonly mesh: ModelSession }

/**
 * The eyes of BlazeFace replace the landmark network for a face that the mesh then confirms clearly.
 * In 807 press photographs (LFW, fold 1) this finds three more faces, all real, and no false one. TAR at
 * FMR 1e-3 and 1e-4: 98.1 and 93.1 %, with the landmark network for all faces 97.9 and 92.5 %.
 */
async function fitMesh(
  { landmarks, mesh }: Networks,
  pyramid: ImagePyramid,
  { box, eyes, landmarkPoints }: Parameters<FitMesh>[0],
): Promise<Mesh> {
  if (eyes) {
    const fitted = await predictMesh(mesh, pyramid, meshCropFromBox(box, eyes))
    if (fitted.faceScore >= eyesMeshScoreMin) return fitted
  }
  const toFrame = landmarkPoints
    ? meshCropFromBox(box, landmarkPoints)
    : meshCropFromLandmarks(await predictLandmarks68(landmarks, pyramid, box))
  return predictMesh(mesh, pyramid, toFrame)
}

/** On the face of a dog, the mesh scores 0.79 with the points of a detector, and 0.44 without. */
const eyesMeshScoreMin = 0.9
