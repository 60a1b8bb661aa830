import { identify } from '../actions/identify.ts'
import { faceOf, versionsOf } from './face.ts'
import { readPictures } from './pictures.ts'
import { lookQuery, readQuery } from './query.ts'
import { confidenceOf, questionTo, workOf } from './question.ts'
import type { CompreFaceRoute } from './serve.ts'
import { subjectName } from './subject-name.ts'

/**
 * svc.identify. CompreFace always names the nearest subject; here nobody below the threshold of the
 * project is named, and the list of a stranger is empty.
 */
export const recognizeFaces: CompreFaceRoute = {
  method: 'POST',
  path: '/api/v1/recognition/recognize',
  status: 200,
  understand: async (asked) => {
    const query = readQuery(lookQuery, asked.request.query)
    const [picture] = await readPictures(asked, ['file'])
    const main = questionTo(identify, {
      images: [picture],
      maxFaces: Math.min(query.limit || facesMax, facesMax),
      maxCandidates: Math.max(1, query.prediction_count),
      ...confidenceOf(query),
    })
    return workOf({
      main,
      pictures: [picture],
      query,
      tell: (value, [analysis]) => ({
        result: value.faces.map((one) => ({
          ...faceOf(one, query, { analysis, made: value }),
          subjects: one.candidates.map((candidate) => ({
            subject: subjectName(candidate),
            similarity: candidate.similarity,
          })),
        })),
        ...versionsOf(query, value),
      }),
    })
  },
}

/** As many faces as svc.identify looks for. */
const facesMax = 20
