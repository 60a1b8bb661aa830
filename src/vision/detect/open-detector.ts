import { builtinPack } from '../../models/builtin/builtin-pack.ts'
import type { ModelSet } from '../../models/model-set.ts'
import type { Detection } from './combine-detections.ts'
import { runBlazeface } from './blazeface.ts'
import { detectBorderFaces } from './border-faces.ts'
import { detectFaces } from './detect-faces.ts'
import { openInstalledDetector } from './installed-detector.ts'
import type { ImageContext } from '../image-context.ts'
import { formatProviders } from '../model-sessions.ts'
import type { ModelSessions } from '../model-sessions.ts'
import { runSsd } from './ssd.ts'

/** Finds the faces of a picture. */
export type Detector = {
  /** "id@version" of the models. */
  readonly providers: string
  /** The faces of `scene` that are wanted, best first. */
  readonly detectFaces: (scene: ImageContext, isWanted: FacePredicate) => Promise<Detection[]>
}

export type FacePredicate = (face: Detection) => boolean

export async function openDetector(
  { detector }: ModelSet,
  sessions: ModelSessions,
): Promise<Detector> {
  return detector === 'builtin'
    ? openBuiltinDetector(sessions)
    : openInstalledDetector(detector, sessions)
}

async function openBuiltinDetector(sessions: ModelSessions): Promise<Detector> {
  const near = await sessions.openBuiltin('blazeface')
  const small = await sessions.openBuiltin('ssd_mobilenetv1')
  return {
    providers: formatProviders([builtinPack.models.blazeface, builtinPack.models.ssd_mobilenetv1]),
    detectFaces({ image: { frame }, fitMesh }, isWanted) {
      const detectors = {
        blazeface: () => runBlazeface(near, frame),
        ssd: () => runSsd(small, frame),
        borderFaces: () => detectBorderFaces(near, frame),
        fitMesh,
      }
      return detectFaces(detectors, frame, isWanted)
    },
  }
}
