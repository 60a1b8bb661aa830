import type { z } from 'zod'
import { comparisonDecision } from '../../actions/parts/call-decisions.ts'
import { extractProbes, type FaceParams } from '../../actions/parts/extract-probes.ts'
import { extractOrRefuse, requireUsable } from '../../actions/parts/pictures/extract-pictures.ts'
import { debugInfo, toFaceValue } from '../../actions/parts/response-fields.ts'
import type { debug, FaceValue } from '../../actions/schemas/fields.ts'
import { verify, verifyThreshold } from '../../actions/verify.ts'
import { toCompreFaceFace, pluginVersions } from '../face-response.ts'
import { readImages, type CompreFaceImage } from '../input/read-images.ts'
import { readImageQuery, type ImageQuery } from '../input/query.ts'
import { toCompreFaceCall, confidenceParams, type PreparedAction } from '../prepare-action.ts'
import type { CompreFaceRoute } from '../serve-route.ts'

/** Compares the one face of an image with every face of another image, the most similar first. */
export const verifyImages: CompreFaceRoute = {
  method: 'POST',
  path: '/api/v1/verification/verify',
  status: 200,
  known: { name: verify.name, permissions: [verify.name] },
  parse: async (compreFaceRequest) => {
    const query = readImageQuery(compreFaceRequest)
    const images = await readImages(compreFaceRequest, ['source_image', 'target_image'])
    return toCompreFaceCall({
      main: compareFaces(images, query),
      images,
      query,
      toResponse: (value, [sourceAnalysis, targetAnalysis]) => {
        const result = {
          source_image_face: toCompreFaceFace(value.source, query, {
            analysis: sourceAnalysis,
            source: value,
          }),
          face_matches: value.matches.map(({ face, similarity }) => ({
            ...toCompreFaceFace(face, query, { analysis: targetAnalysis, source: value }),
            similarity,
          })),
          ...pluginVersions(query, value),
        }
        return { result: [result] }
      },
    })
  },
}

type FaceComparison = {
  readonly source: FaceValue
  /** The faces of the target image, the most similar first. */
  readonly matches: readonly { readonly face: FaceValue; readonly similarity: number }[]
  readonly debug?: z.output<typeof debug>
}

/** The highest number of faces of svc.identify: every face needs a template. */
const facesMax = 20

/**
 * svc.verify as CompreFace defines it: compares the one face of the first image with every face of
 * the second. Its price and permission are those of svc.verify.
 */
function compareFaces(
  [source, target]: readonly [CompreFaceImage, CompreFaceImage],
  query: ImageQuery,
): PreparedAction<FaceComparison> {
  const images = [source, target]
  return {
    name: verify.name,
    units: verify.price(images.length),
    params: { images },
    run: async ({ debug, ...context }) => {
      const params = verify.params.parse({ images, ...confidenceParams(query) })
      const maxFaces = Math.min(query.limit || facesMax, facesMax)
      const extract = (image: CompreFaceImage, index: number, options: Partial<FaceParams>) =>
        extractOrRefuse(index, () =>
          extractProbes({ ...context, params: { ...params, ...options } }, image, index),
        )
      const [sourceProbes, targetProbes] = requireUsable(
        await Promise.all([
          extract(source, 0, { facePolicy: 'single' }),
          extract(target, 1, { maxFaces }),
        ]),
      )
      if (!sourceProbes || !targetProbes) throw new Error('a comparison has two images')
      const { analysis, faces } = sourceProbes
      const [probe] = faces
      const { matching } = context.services
      const matches = targetProbes.faces
        .map((face, index) => ({
          face: toFaceValue(targetProbes.analysis, face, index),
          similarity: matching.compare(probe.template, face.template).similarity,
        }))
        .toSorted((a, b) => b.similarity - a.similarity)
      const value = {
        source: toFaceValue(analysis, probe, 0),
        matches,
        ...debugInfo(debug, analysis, probe),
      }
      const similarity = matches[0]?.similarity ?? null
      const best = similarity ?? 0
      const isMatched = best >= verifyThreshold
      const scores = [{ kind: 'similarity', value: best, isMatched }] as const
      const { qualityScore } = probe
      const decision = comparisonDecision({ threshold: verifyThreshold, similarity, qualityScore })
      return { outcome: { value, scores, decision } }
    },
  }
}
