import { compare } from './compare.ts'
import { faceOf, versionsOf } from './face.ts'
import { readPictures } from './pictures.ts'
import { lookQuery, readQuery } from './query.ts'
import { workOf } from './question.ts'
import type { CompreFaceRoute } from './serve.ts'

/** Compares the one face of a picture with every face of another, the most similar first. */
export const verifyPictures: CompreFaceRoute = {
  method: 'POST',
  path: '/api/v1/verification/verify',
  status: 200,
  understand: async (asked) => {
    const query = readQuery(lookQuery, asked.request.query)
    const pictures = await readPictures(asked, ['source_image', 'target_image'])
    return workOf({
      main: compare(pictures, query),
      pictures,
      query,
      tell: (made, [ofSource, ofTarget]) => {
        const result = {
          source_image_face: faceOf(made.source, query, { analysis: ofSource, made }),
          face_matches: made.matches.map(({ face, similarity }) => ({
            ...faceOf(face, query, { analysis: ofTarget, made }),
            similarity,
          })),
          ...versionsOf(query, made),
        }
        return { result: [result] }
      },
    })
  },
}
