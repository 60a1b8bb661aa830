import { enroll } from '../../actions/enroll.ts'
import { readImages } from '../input/read-images.ts'
import { imageQuery, readQuery, subjectQuery } from '../input/query.ts'
import { confidenceParams, prepareAction, toCompreFaceCall } from '../prepare-action.ts'
import type { CompreFaceRoute } from '../serve-route.ts'
import { findSubjectByName } from './subject-name.ts'

/** svc.enroll under the name as externalId, with the guards of enrolment. */
export const addFace: CompreFaceRoute = {
  method: 'POST',
  path: '/api/v1/recognition/faces',
  status: 201,
  parse: async (asked) => {
    const { request, caller, options } = asked
    const { gallery } = options.services
    const { subject } = readQuery(subjectQuery, request.query)
    const query = readQuery(imageQuery, request.query)
    const [picture] = await readImages(asked, ['file'])
    const found = await gallery.read((reading) =>
      findSubjectByName({ gallery }, reading, caller, subject),
    )
    const target =
      found?.externalId === null ? { subjectId: found.subjectId } : { externalId: subject }
    const main = prepareAction(enroll, {
      images: [picture],
      ...target,
      duplicateCheck: 'off',
      ...confidenceParams(query),
    })
    return toCompreFaceCall({
      main,
      images: [],
      query,
      toResponse: ({ faceId }) => ({ image_id: faceId, subject }),
    })
  },
}
