import { builtinPack } from '../../models/builtin/builtin-pack.ts'
import type { ModelSet } from '../../models/model-set.ts'
import { formatProviders, type ModelSessions } from '../model-sessions.ts'
import { runBlazeface } from './blazeface.ts'
import { detectBorderFaces } from './border-faces.ts'
import { detectFaces } from './detect-faces.ts'
import type { Detector } from './detector.ts'
import { openInstalledDetector } from './installed-detector.ts'
import { detectLargeFaces } from './large-faces.ts'
import { runSsd } from './ssd.ts'

export async function openDetector(
  { detector }: ModelSet,
  sessions: ModelSessions,
): Promise<Detector> {
  return detector === 'builtin'
    ? openBuiltinDetector(sessions)
    : openInstalledDetector(detector, sessions)
}

async function openBuiltinDetector(sessions: ModelSessions): Promise<Detector> {
  const blazeface = await sessions.openBuiltin('blazeface')
  const ssd = await sessions.openBuiltin('ssd_mobilenetv1')
  return {
    providers: formatProviders([builtinPack.models.blazeface, builtinPack.models.ssd_mobilenetv1]),
    detectFaces({ pyramid, fitMesh }, isWanted, isFallback) {
      const detectors = {
        blazeface: () => runBlazeface(blazeface, pyramid),
        ssd: () => runSsd(ssd, pyramid),
        borderFaces: () => detectBorderFaces(blazeface, pyramid),
        largeFaces: () => detectLargeFaces(blazeface, pyramid),
        fitMesh,
      }
      return detectFaces(detectors, pyramid.frame, { isWanted, isFallback })
    },
  }
}
