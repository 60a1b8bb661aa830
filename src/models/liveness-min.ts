import { builtinPack } from './builtin.ts'
import type { ModelSet } from './pack.ts'

/** From which score on the set's networks call a face live; of several their mean, as of scores. */
export function livenessMinOf({ liveness }: ModelSet): number {
  if (liveness === 'builtin') return builtinPack.models.liveness.recipe.liveMin
  const minima = liveness.map(({ model }) =>
    model.decoding.kind === 'antispoof' ? model.decoding.liveMin : Number.NaN,
  )
  return minima.reduce((sum, min) => sum + min, 0) / minima.length
}
