import { identify } from '../../actions/identify.ts'
import { toCompreFaceFace, pluginVersions } from '../face-response.ts'
import { readImages } from '../input/read-images.ts'
import { imageQuery, readQuery } from '../input/query.ts'
import { confidenceParams, prepareAction, toCompreFaceCall } from '../prepare-action.ts'
import type { CompreFaceRoute } from '../serve-route.ts'
import { subjectName } from './subject-name.ts'

/**
 * svc.identify. CompreFace always names the nearest subject; here nobody below the threshold of the
 * project is named, and the list of a stranger is empty.
 */
export const recognizeFaces: CompreFaceRoute = {
  method: 'POST',
  path: '/api/v1/recognition/recognize',
  status: 200,
  parse: async (asked) => {
    const query = readQuery(imageQuery, asked.request.query)
    const [picture] = await readImages(asked, ['file'])
    const main = prepareAction(identify, {
      images: [picture],
      maxFaces: Math.min(query.limit || facesMax, facesMax),
      maxCandidates: Math.max(1, query.prediction_count),
      ...confidenceParams(query),
    })
    return toCompreFaceCall({
      main,
      images: [picture],
      query,
      toResponse: (value, [analysis]) => ({
        result: value.faces.map((one) => ({
          ...toCompreFaceFace(one, query, { analysis, made: value }),
          subjects: one.candidates.map((candidate) => ({
            subject: subjectName(candidate),
            similarity: candidate.similarity,
          })),
        })),
        ...pluginVersions(query, value),
      }),
    })
  },
}

/** As many faces as svc.identify looks for. */
const facesMax = 20
