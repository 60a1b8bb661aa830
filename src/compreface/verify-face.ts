import { verify } from '../actions/verify.ts'
import { isUuid, newId } from '../lib/ids.ts'
import { faceOf, versionsOf } from './face.ts'
import { readPictures } from './pictures.ts'
import { lookQuery, readQuery } from './query.ts'
import { confidenceOf, questionTo, workOf } from './question.ts'
import type { Asked, CompreFaceRoute } from './serve.ts'

/**
 * svc.verify with the subject that the face is of: of all its faces the one that is most like the
 * picture says how alike they are. Only the largest face of the picture is compared.
 */
export const verifyFace: CompreFaceRoute = {
  method: 'POST',
  path: '/api/v1/recognition/faces/:image_id/verify',
  status: 200,
  understand: async (asked) => {
    const query = readQuery(lookQuery, asked.request.query)
    const [picture] = await readPictures(asked, ['file'])
    const owner = await ownerOf(asked)
    // Nobody's id: whether there is such a face is told behind the gate.
    const subjectId = owner?.subjectId ?? newId()
    const params = { images: [picture], subjectId, ...confidenceOf(query) }
    return workOf({
      main: questionTo(verify, params),
      pictures: [picture],
      query,
      tell: (value, [analysis]) => {
        const { similarity, externalId } = value
        const face = faceOf(value.probe, query, { analysis, made: value })
        const result = [{ ...face, subject: externalId ?? subjectId, similarity }]
        return { result, ...versionsOf(query, value) }
      },
    })
  },
}

async function ownerOf({ request, caller: { galleryId }, options }: Asked) {
  const { gallery } = options.services
  const { image_id: faceId } = request.parts
  if (!isUuid(faceId)) return undefined
  const filter = { galleryId, faceId, limit: 1 }
  return gallery.read(async (reading) => (await gallery.listFaces(reading, filter))[0])
}
