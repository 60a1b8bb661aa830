import { builtinPack } from '../models/builtin.ts'
import type { ModelSet } from '../models/pack.ts'
import type { Detection } from './agreement.ts'
import { blazeface } from './blazeface.ts'
import { cutFaces } from './cut-faces.ts'
import { detect } from './detect.ts'
import { openInstalledDetector } from './installed-detector.ts'
import type { Scene } from './scene.ts'
import { providersOf } from './sessions.ts'
import type { Sessions } from './sessions.ts'
import { ssd } from './ssd.ts'

/** Finds the faces of a picture. */
export type Detector = {
  /** "id@version" of the models. */
  readonly providers: string
  /** The faces of `scene` that are wanted, best first. */
  readonly find: (scene: Scene, isWanted: IsWanted) => Promise<Detection[]>
}

export type IsWanted = (face: Detection) => boolean

export async function openDetector({ detector }: ModelSet, sessions: Sessions): Promise<Detector> {
  return detector === 'builtin' ? openBuiltin(sessions) : openInstalledDetector(detector, sessions)
}

async function openBuiltin(sessions: Sessions): Promise<Detector> {
  const near = await sessions.builtin('blazeface')
  const small = await sessions.builtin('ssd_mobilenetv1')
  return {
    providers: providersOf([builtinPack.models.blazeface, builtinPack.models.ssd_mobilenetv1]),
    find({ upright: { frame }, examine }, isWanted) {
      const detectors = {
        blazeface: () => blazeface(near, frame),
        ssd: () => ssd(small, frame),
        cut: () => cutFaces(near, frame),
        examine,
      }
      return detect(detectors, frame, isWanted)
    },
  }
}
