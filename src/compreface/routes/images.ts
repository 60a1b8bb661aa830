import type { Action } from '../../actions/action.ts'
import { analyze } from '../../actions/analyze.ts'
import { detect } from '../../actions/detect.ts'
import { enroll } from '../../actions/enroll.ts'
import { identify } from '../../actions/identify.ts'
import { comparisonDecision } from '../../actions/parts/call-decisions.ts'
import { type FaceParams, extractProbes, facesMax } from '../../actions/parts/extract-probes.ts'
import { extractOrRefuse, requireUsable } from '../../actions/parts/pictures/extract-pictures.ts'
import { debugInfo, toFaceValue } from '../../actions/parts/response-fields.ts'
import type { FaceValue } from '../../actions/schemas/fields.ts'
import { verify, verifyThreshold } from '../../actions/verify.ts'
import { ActionError, GalleryChangedError } from '../../lib/errors.ts'
import { newId } from '../../lib/ids.ts'
import type { Tx } from '../../store/database.ts'
import { pluginVersions, toCompreFaceFace } from '../face-response.ts'
import {
  type ImageQuery,
  readImageId,
  readImageQuery,
  needsAnalysis,
  readQuery,
  repairQuery,
  requestsAnalysis,
  subjectQuery,
} from '../input/query.ts'
import { type CompreFaceImage, readImages } from '../input/read-images.ts'
import {
  type AnalyzeOutput,
  type PreparedAction,
  type PreparedRunContext,
  confidenceParams,
  prepareAction,
  prepareAnalysis,
  toCompreFaceCall,
} from '../prepare-action.ts'
import type { CompreFaceRoute } from '../serve-route.ts'
import { findSubjectByName, subjectName } from './subjects.ts'

const knownOf = ({ name }: Pick<Action, 'name'>) => ({ name, permissions: [name] })

/** Compares the one face of an image with every face of another image, the most similar first. */
export const verifyImages: CompreFaceRoute = {
  method: 'POST',
  path: '/api/v1/verification/verify',
  status: 200,
  known: () => knownOf(verify),
  parse: async (compreFaceRequest) => {
    const query = readImageQuery(compreFaceRequest)
    const images = await readImages(compreFaceRequest, ['source_image', 'target_image'])
    return toCompreFaceCall({
      main: compareFaces(images, query),
      images,
      query,
      toResponse: (value, [sourceAnalysis, targetAnalysis]) => {
        const result = {
          source_image_face: toCompreFaceFace(value.source, query, {
            analysis: sourceAnalysis,
            source: value,
          }),
          face_matches: value.matches.map(({ face, similarity }) => ({
            ...toCompreFaceFace(face, query, { analysis: targetAnalysis, source: value }),
            similarity,
          })),
          ...pluginVersions(query, value),
        }
        return { result: [result] }
      },
    })
  },
}

/**
 * svc.verify as CompreFace defines it: compares the one face of the first image with every face of
 * the second. Its price and permission are those of svc.verify.
 */
function compareFaces(
  [source, target]: readonly [CompreFaceImage, CompreFaceImage],
  query: ImageQuery,
) {
  const images = [source, target]
  return {
    name: verify.name,
    price: verify.price,
    params: { images },
    run: async ({ debug, ...context }: PreparedRunContext) => {
      const params = verify.params.parse({ images, ...confidenceParams(query) })
      const maxFaces = Math.min(query.limit || identifiedFacesMax, identifiedFacesMax)
      const extract = (image: CompreFaceImage, index: number, options: Partial<FaceParams>) =>
        extractOrRefuse(index, () =>
          extractProbes({ ...context, params: { ...params, ...options } }, image, index),
        )
      const [sourceProbes, targetProbes] = requireUsable(
        await Promise.all([
          extract(source, 0, { facePolicy: 'single' }),
          extract(target, 1, { maxFaces }),
        ]),
      )
      if (!sourceProbes || !targetProbes) throw new Error('a comparison has two images')
      const { analysis, faces } = sourceProbes
      const [probe] = faces
      const { matching } = context.services
      const matches = targetProbes.faces
        .map((face, index) => ({
          face: toFaceValue(targetProbes.analysis, face, index),
          similarity: matching.compare(probe.template, face.template).similarity,
        }))
        .toSorted((a, b) => b.similarity - a.similarity)
      const value = {
        source: toFaceValue(analysis, probe, 0),
        matches,
        ...debugInfo(debug, analysis, probe),
      }
      const similarity = matches[0]?.similarity ?? null
      const best = similarity ?? 0
      const isMatched = best >= verifyThreshold
      const scores = [{ kind: 'similarity', value: best, isMatched }] as const
      const { qualityScore } = probe
      const decision = comparisonDecision({ threshold: verifyThreshold, similarity, qualityScore })
      return { outcome: { value, scores, decision } }
    },
  }
}

/**
 * svc.identify. CompreFace always returns the nearest subject. Facegate returns only subjects above
 * the threshold of the project; for an unenrolled person, `subjects` is empty.
 */
export const recognizeFaces: CompreFaceRoute = {
  method: 'POST',
  path: '/api/v1/recognition/recognize',
  status: 200,
  known: () => knownOf(identify),
  parse: async (compreFaceRequest) => {
    const query = readImageQuery(compreFaceRequest)
    const [image] = await readImages(compreFaceRequest, ['file'])
    const main = prepareAction(identify, {
      images: [image],
      maxFaces: Math.min(query.limit || identifiedFacesMax, identifiedFacesMax),
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

/** The highest number of faces of svc.identify: every face needs a template. */
const identifiedFacesMax = 20

/** svc.detect; for age or gender svc.analyze, which returns the same faces at the same price. */
export const detectFaces: CompreFaceRoute = {
  method: 'POST',
  path: '/api/v1/detection/detect',
  status: 200,
  // The plugins decide between the two actions, and so the permission.
  known: (request) => knownOf(requestsAnalysis(request) ? analyze : detect),
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

/**
 * svc.verify with the subject of the face. The similarity is that of the most similar face of the
 * subject. Only the largest face of the image is compared.
 */
export const verifyFace: CompreFaceRoute = {
  method: 'POST',
  path: '/api/v1/recognition/faces/:image_id/verify',
  status: 200,
  known: () => knownOf(verify),
  parse: async (compreFaceRequest) => {
    const query = readImageQuery(compreFaceRequest)
    const [image] = await readImages(compreFaceRequest, ['file'])
    const faceId = readImageId(compreFaceRequest.request)
    const params = { images: [image], ...confidenceParams(query) }
    const prepare = (subjectId: string) => prepareAction(verify, { ...params, subjectId })
    return toCompreFaceCall({
      main: { ...prepare(newId()), run: (context) => runForOwner(context, faceId, prepare) },
      images: [image],
      query,
      toResponse: (value, [analysis]) => {
        const { similarity, subjectId, externalId } = value
        const face = toCompreFaceFace(value.probe, query, { analysis, source: value })
        const result = [{ ...face, subject: externalId ?? subjectId, similarity }]
        return { result, ...pluginVersions(query, value) }
      },
    })
  },
}

/** @throws GalleryChangedError if the subject of the face ends during the call. */
async function runForOwner<Value>(
  context: PreparedRunContext,
  faceId: string,
  prepare: (subjectId: string) => PreparedAction<Value>,
) {
  const { caller, services } = context
  const filter = { galleryId: caller.galleryId, faceId, limit: 1 }
  const [owner] = await services.subjects.read((tx) => services.subjects.listFaces(tx, filter))
  const fail = (error: unknown): never => {
    if (!(error instanceof ActionError && error.code === 'SUBJECT_NOT_FOUND')) throw error
    if (owner) throw new GalleryChangedError()
    throw new ActionError(error.code, 'path.image_id: the gallery has no face with this image_id')
  }
  // For an unknown face a new id: the call fails with SUBJECT_NOT_FOUND.
  const output = await prepare(owner?.subjectId ?? newId())
    .run(context)
    .catch(fail)
  if ('outcome' in output) return output
  return { ...output, effect: async (tx: Tx) => Promise.resolve(output.effect(tx)).catch(fail) }
}

/** svc.enroll with the name of the subject as externalId, and with the rules of enrollment. */
export const addFace: CompreFaceRoute = {
  method: 'POST',
  path: '/api/v1/recognition/faces',
  status: 201,
  known: () => knownOf(enroll),
  parse: async (compreFaceRequest) => {
    const { request, caller, options } = compreFaceRequest
    const { subjects } = options.services
    const { subject } = readQuery(subjectQuery, repairQuery(request))
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
