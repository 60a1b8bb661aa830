import { detect } from '../../actions/detect.ts'
import { facesMax } from '../../actions/parts/extract-probes.ts'
import type { FaceValue } from '../../actions/schemas/fields.ts'
import { ActionError } from '../../lib/errors.ts'
import { toCompreFaceFace, pluginVersions } from '../face-response.ts'
import { readImages } from '../input/read-images.ts'
import { readImageQuery } from '../input/query.ts'
import {
  confidenceParams,
  needsAnalysis,
  prepareAction,
  prepareAnalysis,
  toCompreFaceCall,
  type AnalyzeOutput,
} from '../prepare-action.ts'
import type { CompreFaceRoute } from '../serve-route.ts'

/** svc.detect; for age or gender svc.analyze, which returns the same faces at the same price. */
export const detectFaces: CompreFaceRoute = {
  method: 'POST',
  path: '/api/v1/detection/detect',
  status: 200,
  // The plugins decide between the two actions, and so the permission.
  known: { name: detect.name, permissions: [] },
  parse: async (compreFaceRequest) => {
    const query = readImageQuery(compreFaceRequest)
    const [image] = await readImages(compreFaceRequest, ['file'])
    const call = { images: [], query }
    if (needsAnalysis(query)) {
      const main = prepareAnalysis(image, query)
      return toCompreFaceCall({ ...call, main, toResponse: (value) => toResponse(value, value) })
    }
    const main = prepareAction(detect, {
      images: [image],
      maxFaces: Math.min(query.limit || facesMax, facesMax),
      ...confidenceParams(query),
    })
    return toCompreFaceCall({ ...call, main, toResponse: (value) => toResponse(value) })

    function toResponse(value: Pick<AnalyzeOutput, 'debug'> & FaceList, analysis?: AnalyzeOutput) {
      if (value.faces.length === 0)
        throw new ActionError('NO_FACE_FOUND', 'no face was found in the image')
      const result = value.faces.map((face) =>
        toCompreFaceFace(face, query, { analysis, source: value }),
      )
      return { result, ...pluginVersions(query, value) }
    }
  },
}

type FaceList = { readonly faces: readonly FaceValue[] }
