import { enroll } from '../actions/enroll.ts'
import { readPictures } from './pictures.ts'
import { lookQuery, readQuery, subjectQuery } from './query.ts'
import { confidenceOf, questionTo, workOf } from './question.ts'
import type { CompreFaceRoute } from './serve.ts'
import { findNamed } from './subject-name.ts'

/** svc.enroll under the name as externalId, with the guards of enrolment. */
export const addFace: CompreFaceRoute = {
  method: 'POST',
  path: '/api/v1/recognition/faces',
  status: 201,
  understand: async (asked) => {
    const { request, caller, options } = asked
    const { gallery } = options.services
    const { subject } = readQuery(subjectQuery, request.query)
    const query = readQuery(lookQuery, request.query)
    const [picture] = await readPictures(asked, ['file'])
    const found = await gallery.read((reading) => findNamed({ gallery }, reading, caller, subject))
    const target =
      found?.externalId === null ? { subjectId: found.subjectId } : { externalId: subject }
    const main = questionTo(enroll, {
      images: [picture],
      ...target,
      duplicateCheck: 'off',
      ...confidenceOf(query),
    })
    return workOf({
      main,
      pictures: [],
      query,
      tell: ({ faceId }) => ({ image_id: faceId, subject }),
    })
  },
}
