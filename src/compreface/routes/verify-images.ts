import { verify } from '../../actions/verify.ts'
import { toCompreFaceFace, pluginVersions } from '../face-response.ts'
import { imageOptions } from '../description/route-description.ts'
import { readImages } from '../input/read-images.ts'
import { readImageQuery } from '../input/query.ts'
import { toCompreFaceCall } from '../prepare-action.ts'
import type { CompreFaceRoute } from '../serve-route.ts'
import { compareFaces } from './compare-faces.ts'

/** Compares the one face of an image with every face of another image, the most similar first. */
export const verifyImages: CompreFaceRoute = {
  method: 'POST',
  path: '/api/v1/verification/verify',
  status: 200,
  known: { name: verify.name, permissions: [verify.name] },
  description: {
    operationId: 'compreFaceVerifyImages',
    summary: 'Compare the face of an image with the faces of another',
    permission: verify.name,
    units: verify.price(1),
    query: imageOptions,
    images: ['source_image', 'target_image'],
    response: 'ImageVerification',
  },
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
