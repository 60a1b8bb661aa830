import type { z } from 'zod'
import { debugOf } from '../actions/candidates.ts'
import type { debug, face } from '../actions/fields.ts'
import { faceOf } from '../actions/face.ts'
import { sight } from '../actions/sight.ts'
import { verify } from '../actions/verify.ts'
import type { ImageItem } from './pictures.ts'
import type { LookQuery } from './query.ts'
import { confidenceOf, type Question } from './question.ts'

type Face = z.output<typeof face>

type Compared = {
  readonly source: Face
  /** The faces of the other picture, the most similar first. */
  readonly matches: readonly { readonly face: Face; readonly similarity: number }[]
  readonly debug?: z.output<typeof debug>
}

/** As many faces as svc.identify looks for: each is described by a template. */
const facesMax = 20

/**
 * svc.verify as CompreFace has it: the one face of the first picture with every face of the second.
 * Price and permission are those of svc.verify.
 */
export function compare(
  [source, target]: readonly [ImageItem, ImageItem],
  query: LookQuery,
): Question<Compared> {
  const images = [source, target]
  return {
    name: verify.name,
    units: verify.price(images.length),
    params: { images },
    run: async ({ debug: isDebug, ...at }) => {
      const params = verify.params.parse({ images, ...confidenceOf(query) })
      const maxFaces = Math.min(query.limit || facesMax, facesMax)
      const [one, many] = await Promise.all([
        sight({ ...at, params: { ...params, facePolicy: 'single' } }, source, 0),
        sight({ ...at, params: { ...params, maxFaces } }, target, 1),
      ])
      const [probe] = one.faces
      const matches = many.faces
        .map((seen, index) => ({
          face: faceOf(many.view, seen, index),
          similarity: at.services.gallery.compare(probe.template, seen.template).similarity,
        }))
        .toSorted((a, b) => b.similarity - a.similarity)
      const value = {
        source: faceOf(one.view, probe, 0),
        matches,
        ...debugOf(isDebug, one.view, probe),
      }
      const best = matches[0]?.similarity ?? 0
      const isMatched = best >= params.threshold
      const scores = [{ kind: 'similarity', value: best, isMatched }] as const
      return { effect: () => ({ value, scores }) }
    },
  }
}
