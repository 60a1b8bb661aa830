import type { z } from 'zod'
import { debugInfo } from '../../actions/parts/debug-info.ts'
import type { debug, face } from '../../actions/schemas/fields.ts'
import { toFaceValue } from '../../actions/parts/face-value.ts'
import { extractProbes } from '../../actions/parts/extract-probes.ts'
import { verify } from '../../actions/verify.ts'
import type { CompreFaceImage } from '../input/read-images.ts'
import type { ImageQuery } from '../input/query.ts'
import { confidenceParams, type PreparedAction } from '../prepare-action.ts'

type ComparedFace = z.output<typeof face>

type FaceComparison = {
  readonly source: ComparedFace
  /** The faces of the other picture, the most similar first. */
  readonly matches: readonly { readonly face: ComparedFace; readonly similarity: number }[]
  readonly debug?: z.output<typeof debug>
}

/** As many faces as svc.identify looks for: each is described by a template. */
const facesMax = 20

/**
 * svc.verify as CompreFace has it: the one face of the first picture with every face of the second.
 * Price and permission are those of svc.verify.
 */
export function compareFaces(
  [source, target]: readonly [CompreFaceImage, CompreFaceImage],
  query: ImageQuery,
): PreparedAction<FaceComparison> {
  const images = [source, target]
  return {
    name: verify.name,
    units: verify.price(images.length),
    params: { images },
    run: async ({ debug: isDebug, ...at }) => {
      const params = verify.params.parse({ images, ...confidenceParams(query) })
      const maxFaces = Math.min(query.limit || facesMax, facesMax)
      const [one, many] = await Promise.all([
        extractProbes({ ...at, params: { ...params, facePolicy: 'single' } }, source, 0),
        extractProbes({ ...at, params: { ...params, maxFaces } }, target, 1),
      ])
      const [probe] = one.faces
      const matches = many.faces
        .map((seen, index) => ({
          face: toFaceValue(many.analysis, seen, index),
          similarity: at.services.gallery.compare(probe.template, seen.template).similarity,
        }))
        .toSorted((a, b) => b.similarity - a.similarity)
      const value = {
        source: toFaceValue(one.analysis, probe, 0),
        matches,
        ...debugInfo(isDebug, one.analysis, probe),
      }
      const best = matches[0]?.similarity ?? 0
      const isMatched = best >= params.threshold
      const scores = [{ kind: 'similarity', value: best, isMatched }] as const
      return { outcome: { value, scores } }
    },
  }
}
