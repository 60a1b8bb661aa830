import { detect } from '../actions/detect.ts'
import { ActionError } from '../lib/errors.ts'
import { faceOf, versionsOf } from './face.ts'
import { readPictures } from './pictures.ts'
import { lookQuery, readQuery } from './query.ts'
import { analysisOf, confidenceOf, needsAnalysis, questionTo, workOf } from './question.ts'
import type { Analysis } from './question.ts'
import type { CompreFaceRoute } from './serve.ts'

/** svc.detect; with age or gender svc.analyze, which tells the same faces, at the same price. */
export const detectFaces: CompreFaceRoute = {
  method: 'POST',
  path: '/api/v1/detection/detect',
  status: 200,
  understand: async (asked) => {
    const query = readQuery(lookQuery, asked.request.query)
    const [picture] = await readPictures(asked, ['file'])
    const look = { pictures: [], query }
    if (needsAnalysis(query)) {
      const main = analysisOf(picture, query)
      return workOf({ ...look, main, tell: (value) => tell(value, value) })
    }
    const main = questionTo(detect, {
      images: [picture],
      maxFaces: Math.min(query.limit || facesMax, facesMax),
      ...confidenceOf(query),
    })
    return workOf({ ...look, main, tell: (value) => tell(value) })

    function tell(value: Pick<Analysis, 'debug'> & Faces, analysis?: Analysis) {
      if (value.faces.length === 0)
        throw new ActionError('NO_FACE_FOUND', 'no face was found in the image')
      const result = value.faces.map((one) => faceOf(one, query, { analysis, made: value }))
      return { result, ...versionsOf(query, value) }
    }
  },
}

type Faces = { readonly faces: readonly Parameters<typeof faceOf>[0][] }

/** As many faces as svc.detect tells of. */
const facesMax = 100
