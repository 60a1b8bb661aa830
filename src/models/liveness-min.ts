import { builtinPack } from './builtin/builtin-pack.ts'
import type { ModelSet } from './pack-manifest.ts'

/** From which score on the set's networks call a face live; of several their mean, as of scores. */
export function liveScoreMin({ liveness }: ModelSet): number {
  if (liveness === 'builtin') return builtinPack.models.liveness.constants.liveMin
  const minima = liveness.map(({ model }) =>
    model.decoding.kind === 'antispoof' ? model.decoding.liveMin : Number.NaN,
  )
  return minima.reduce((sum, min) => sum + min, 0) / minima.length
}
