import { verify } from '../../actions/verify.ts'
import { isUuid, newId } from '../../lib/ids.ts'
import { toCompreFaceFace, pluginVersions } from '../face-response.ts'
import { readImages } from '../input/read-images.ts'
import { imageQuery, readQuery } from '../input/query.ts'
import { confidenceParams, prepareAction, toCompreFaceCall } from '../prepare-action.ts'
import type { CompreFaceRequest, CompreFaceRoute } from '../serve-route.ts'

/**
 * svc.verify with the subject that the face is of: of all its faces the one that is most like the
 * picture says how alike they are. Only the largest face of the picture is compared.
 */
export const verifyFace: CompreFaceRoute = {
  method: 'POST',
  path: '/api/v1/recognition/faces/:image_id/verify',
  status: 200,
  parse: async (asked) => {
    const query = readQuery(imageQuery, asked.request.query)
    const [picture] = await readImages(asked, ['file'])
    const owner = await ownerOf(asked)
    // Nobody's id: whether there is such a face is told behind the gate.
    const subjectId = owner?.subjectId ?? newId()
    const params = { images: [picture], subjectId, ...confidenceParams(query) }
    return toCompreFaceCall({
      main: prepareAction(verify, params),
      images: [picture],
      query,
      toResponse: (value, [analysis]) => {
        const { similarity, externalId } = value
        const face = toCompreFaceFace(value.probe, query, { analysis, made: value })
        const result = [{ ...face, subject: externalId ?? subjectId, similarity }]
        return { result, ...pluginVersions(query, value) }
      },
    })
  },
}

async function ownerOf({ request, caller: { galleryId }, options }: CompreFaceRequest) {
  const { gallery } = options.services
  const { image_id: faceId } = request.pathParams
  if (!isUuid(faceId)) return undefined
  const filter = { galleryId, faceId, limit: 1 }
  return gallery.read(async (reading) => (await gallery.listFaces(reading, filter))[0])
}
