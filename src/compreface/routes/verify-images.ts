import { compareFaces } from './compare-faces.ts'
import { toCompreFaceFace, pluginVersions } from '../face-response.ts'
import { readImages } from '../input/read-images.ts'
import { imageQuery, readQuery } from '../input/query.ts'
import { toCompreFaceCall } from '../prepare-action.ts'
import type { CompreFaceRoute } from '../serve-route.ts'

/** Compares the one face of a picture with every face of another, the most similar first. */
export const verifyImages: CompreFaceRoute = {
  method: 'POST',
  path: '/api/v1/verification/verify',
  status: 200,
  parse: async (asked) => {
    const query = readQuery(imageQuery, asked.request.query)
    const pictures = await readImages(asked, ['source_image', 'target_image'])
    return toCompreFaceCall({
      main: compareFaces(pictures, query),
      images: pictures,
      query,
      toResponse: (made, [ofSource, ofTarget]) => {
        const result = {
          source_image_face: toCompreFaceFace(made.source, query, { analysis: ofSource, made }),
          face_matches: made.matches.map(({ face, similarity }) => ({
            ...toCompreFaceFace(face, query, { analysis: ofTarget, made }),
            similarity,
          })),
          ...pluginVersions(query, made),
        }
        return { result: [result] }
      },
    })
  },
}
