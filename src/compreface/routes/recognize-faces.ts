import { identify } from '../../actions/identify.ts'
import { toCompreFaceFace, pluginVersions } from '../face-response.ts'
import { readImages } from '../input/read-images.ts'
import { readImageQuery } from '../input/query.ts'
import { confidenceParams, prepareAction, toCompreFaceCall } from '../prepare-action.ts'
import type { CompreFaceRoute } from '../serve-route.ts'
import { subjectName } from './subjects.ts'

/**
 * svc.identify. CompreFace always returns the nearest subject. Facegate returns only subjects above
 * the threshold of the project; for an unenrolled person, `subjects` is empty.
 */
export const recognizeFaces: CompreFaceRoute = {
  method: 'POST',
  path: '/api/v1/recognition/recognize',
  status: 200,
  known: { name: identify.name, permissions: [identify.name] },
  parse: async (compreFaceRequest) => {
    const query = readImageQuery(compreFaceRequest)
    const [image] = await readImages(compreFaceRequest, ['file'])
    const main = prepareAction(identify, {
      images: [image],
      maxFaces: Math.min(query.limit || facesMax, facesMax),
      maxCandidates: Math.max(1, query.prediction_count),
      ...confidenceParams(query),
    })
    return toCompreFaceCall({
      main,
      images: [image],
      query,
      toResponse: (value, [analysis]) => ({
        result: value.faces.map((face) => ({
          ...toCompreFaceFace(face, query, { analysis, source: value }),
          subjects: face.candidates.map((candidate) => ({
            subject: subjectName(candidate),
            similarity: candidate.similarity,
          })),
        })),
        ...pluginVersions(query, value),
      }),
    })
  },
}

/** The highest number of faces of svc.identify. */
const facesMax = 20
