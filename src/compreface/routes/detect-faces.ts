import { detect } from '../../actions/detect.ts'
import { ActionError } from '../../lib/errors.ts'
import { toCompreFaceFace, pluginVersions } from '../face-response.ts'
import { readImages } from '../input/read-images.ts'
import { imageQuery, readQuery } from '../input/query.ts'
import {
  prepareAnalysis,
  confidenceParams,
  needsAnalysis,
  prepareAction,
  toCompreFaceCall,
} from '../prepare-action.ts'
import type { AnalyzeOutput } from '../prepare-action.ts'
import type { CompreFaceRoute } from '../serve-route.ts'

/** svc.detect; with age or gender svc.analyze, which tells the same faces, at the same price. */
export const detectFaces: CompreFaceRoute = {
  method: 'POST',
  path: '/api/v1/detection/detect',
  status: 200,
  parse: async (asked) => {
    const query = readQuery(imageQuery, asked.request.query)
    const [picture] = await readImages(asked, ['file'])
    const call = { images: [], query }
    if (needsAnalysis(query)) {
      const main = prepareAnalysis(picture, query)
      return toCompreFaceCall({ ...call, main, toResponse: (value) => tell(value, value) })
    }
    const main = prepareAction(detect, {
      images: [picture],
      maxFaces: Math.min(query.limit || facesMax, facesMax),
      ...confidenceParams(query),
    })
    return toCompreFaceCall({ ...call, main, toResponse: (value) => tell(value) })

    function tell(value: Pick<AnalyzeOutput, 'debug'> & FaceList, analysis?: AnalyzeOutput) {
      if (value.faces.length === 0)
        throw new ActionError('NO_FACE_FOUND', 'no face was found in the image')
      const result = value.faces.map((one) =>
        toCompreFaceFace(one, query, { analysis, made: value }),
      )
      return { result, ...pluginVersions(query, value) }
    }
  },
}

type FaceList = { readonly faces: readonly Parameters<typeof toCompreFaceFace>[0][] }

/** As many faces as svc.detect tells of. */
const facesMax = 100
