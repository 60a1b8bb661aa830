import { verify } from '../../actions/verify.ts'
import { newId } from '../../lib/ids.ts'
import { toCompreFaceFace, pluginVersions } from '../face-response.ts'
import { readImages } from '../input/read-images.ts'
import { readImageId, readImageQuery } from '../input/query.ts'
import { confidenceParams, prepareAction, toCompreFaceCall } from '../prepare-action.ts'
import type { CompreFaceRequest, CompreFaceRoute } from '../serve-route.ts'

/**
 * svc.verify with the subject of the face. The similarity is that of the most similar face of the
 * subject. Only the largest face of the image is compared.
 */
export const verifyFace: CompreFaceRoute = {
  method: 'POST',
  path: '/api/v1/recognition/faces/:image_id/verify',
  status: 200,
  known: { name: verify.name, permissions: [verify.name] },
  parse: async (compreFaceRequest) => {
    const query = readImageQuery(compreFaceRequest)
    const [image] = await readImages(compreFaceRequest, ['file'])
    const owner = await findOwner(compreFaceRequest)
    // For an unknown face a new id: the call fails with SUBJECT_NOT_FOUND after its admission.
    const subjectId = owner?.subjectId ?? newId()
    const params = { images: [image], subjectId, ...confidenceParams(query) }
    return toCompreFaceCall({
      main: prepareAction(verify, params),
      images: [image],
      query,
      toResponse: (value, [analysis]) => {
        const { similarity, externalId } = value
        const face = toCompreFaceFace(value.probe, query, { analysis, source: value })
        const result = [{ ...face, subject: externalId ?? subjectId, similarity }]
        return { result, ...pluginVersions(query, value) }
      },
    })
  },
}

async function findOwner({ request, caller: { galleryId }, options }: CompreFaceRequest) {
  const { subjects } = options.services
  const faceId = readImageId(request)
  const filter = { galleryId, faceId, limit: 1 }
  return subjects.read(async (reading) => (await subjects.listFaces(reading, filter))[0])
}
