import { enroll } from '../../actions/enroll.ts'
import { readImages } from '../input/read-images.ts'
import { readImageQuery, readQuery, subjectQuery } from '../input/query.ts'
import { confidenceParams, prepareAction, toCompreFaceCall } from '../prepare-action.ts'
import type { CompreFaceRoute } from '../serve-route.ts'
import { findSubjectByName } from './subjects.ts'

/** svc.enroll with the name of the subject as externalId, and with the rules of enrollment. */
export const addFace: CompreFaceRoute = {
  method: 'POST',
  path: '/api/v1/recognition/faces',
  status: 201,
  known: { name: enroll.name, permissions: [enroll.name] },
  parse: async (compreFaceRequest) => {
    const { request, caller, options } = compreFaceRequest
    const { subjects } = options.services
    const { subject } = readQuery(subjectQuery, request.query)
    const query = readImageQuery(compreFaceRequest)
    const [image] = await readImages(compreFaceRequest, ['file'])
    const existing = await subjects.read((reading) =>
      findSubjectByName({ subjects }, reading, caller, subject),
    )
    const target =
      existing?.externalId === null ? { subjectId: existing.subjectId } : { externalId: subject }
    const main = prepareAction(enroll, {
      images: [image],
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
