import { verify } from '../actions/verify.ts'
import { faceOf, versionsOf } from './face.ts'
import { readPictures } from './pictures.ts'
import { lookQuery, readQuery } from './query.ts'
import { confidenceOf, questionTo, workOf } from './question.ts'
import type { CompreFaceRoute } from './serve.ts'

/** svc.verify of two pictures: the largest face of each. */
export const verifyPictures: CompreFaceRoute = {
  method: 'POST',
  path: '/api/v1/verification/verify',
  status: 200,
  understand: async (asked) => {
    const query = readQuery(lookQuery, asked.request.query)
    const pictures = await readPictures(asked, ['source_image', 'target_image'])
    return workOf({
      main: questionTo(verify, { images: [...pictures], ...confidenceOf(query) }),
      pictures,
      query,
      tell: (value, [ofSource, ofTarget]) => {
        const { probe, reference, similarity } = value
        if (!reference) throw new Error('the picture to compare with is gone')
        const source = faceOf(probe, query, { analysis: ofSource, made: value })
        const match = faceOf(reference, query, { analysis: ofTarget, made: value })
        const result = {
          source_image_face: source,
          face_matches: [{ ...match, similarity }],
          ...versionsOf(query, value),
        }
        return { result: [result] }
      },
    })
  },
}
