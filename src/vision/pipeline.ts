import type { ModelSet } from '../models/model-set.ts'
import { type AttributeReader, createAttributeReader } from './attributes/attribute-reader.ts'
import type { Detection } from './detect/detection.ts'
import type { Detector } from './detect/detector.ts'
import { openDetector } from './detect/open-detector.ts'
import { arcfaceTemplate, landmarkPoints } from './embed/aligned-crops.ts'
import type { CreateTemplate } from './embed/create-template.ts'
import { type Recognizers, createTemplates, openRecognizers } from './embed/open-recognizers.ts'
import { createFaceResult, toBoundingBox } from './face-result.ts'
import type { AnalysisRequest, FaceMinimums, FaceResult, ImageAnalysis } from './image-analysis.ts'
import type { DetectedFace, ImageContext } from './image-context.ts'
import { type OrientedImage, configureDecoder, encodeJpeg, openImage } from './image/decode.ts'
import { type Rect, areaOf, cropTransform, fitSimilarityTransform } from './image/geometry.ts'
import type { EncodedImage, ImageLimits } from './image/input/encoded-image.ts'
import { type ImagePyramid, type PlanarCrop, createImagePyramid } from './image/pyramid.ts'
import { type MeshLandmarker, openMeshLandmarker } from './landmarks/mesh-landmarker.ts'
import { type Landmarks, type Mesh, headPosition, meshLandmarks } from './landmarks/mesh.ts'
import { measureChallenge } from './liveness/challenge/challenge-points.ts'
import { type LivenessCheck, openLivenessCheck } from './liveness/open-liveness-check.ts'
import { createModelSessions } from './model-sessions.ts'
import { measureImageQuality } from './quality/image-quality.ts'
import { type Stopwatch, createStopwatch } from './stopwatch.ts'

/** Analyzes images one after another; owns the model sessions. */
export type Pipeline = Awaited<ReturnType<typeof createPipeline>>

export type PipelineOptions = {
  /** The folder that `prepareBuiltinPack` filled. */
  readonly modelsFolder: string
  /** The folder that `prepareOptimizedNetworks` filled. */
  readonly optimizedFolder?: string | undefined
  readonly modelSet: ModelSet
  readonly limits: ImageLimits
  /** Replaces the template model of the built-in recognizer, for scripts that fit another one. */
  readonly createTemplate?: CreateTemplate
}

export async function createPipeline(options: PipelineOptions) {
  const { modelsFolder, optimizedFolder, modelSet, limits, createTemplate } = options
  configureDecoder(limits.extraTypes)
  const sessions = createModelSessions(modelsFolder, optimizedFolder)
  const stages: PipelineStages = {
    meshLandmarker: await openMeshLandmarker(sessions),
    detector: await openDetector(modelSet, sessions),
    recognizers: await openRecognizers(modelSet, sessions, createTemplate),
    attributes: createAttributeReader(sessions),
    liveness: await openLivenessCheck(modelSet, sessions),
  }
  return {
    /**
     * Decodes an image and reports its faces, largest first.
     *
     * @param path JSON path of the image in the API request, for messages: `params.images[0]`.
     * @throws ActionError INVALID_REQUEST, IMAGE_DECODE_FAILED, UNSUPPORTED_IMAGE_TYPE,
     *   IMAGE_TOO_SMALL or IMAGE_TOO_LARGE if the image cannot be analyzed.
     */
    analyzeImage: async (
      encodedImage: EncodedImage,
      request: AnalysisRequest,
      path: string,
    ): Promise<ImageAnalysis> => {
      const stopwatch = createStopwatch()
      const image = await stopwatch.time('decode', () => openImage(encodedImage, limits, path))
      const context = createImageContext(stages, image, stopwatch)
      try {
        const analysis = await analyzeFaces(stages, context, request)
        return {
          ...analysis,
          timingsMs: stopwatch.elapsedMs(),
          providers: providersFor(stages, request),
        }
      } finally {
        context.pyramid.release()
      }
    },
    /** Closes the sessions. The pipeline cannot be used afterwards. */
    close: sessions.close,
  }
}

/** One stage per role. A stage runs only if the request needs it. */
type PipelineStages = {
  readonly meshLandmarker: MeshLandmarker
  readonly detector: Detector
  readonly recognizers: Recognizers
  readonly attributes: AttributeReader
  readonly liveness: LivenessCheck
}

function providersFor(
  { detector, meshLandmarker, recognizers, attributes, liveness }: PipelineStages,
  request: AnalysisRequest,
): ImageAnalysis['providers'] {
  return {
    detector: detector.providers,
    landmarks: meshLandmarker.providers,
    ...(request.templates && { recognizer: recognizers.active.modelId }),
    ...(request.attributes?.length && {
      attributes: attributes.providersFor(request.attributes),
    }),
    ...(request.liveness && { liveness: liveness.providers }),
  }
}

function createImageContext(
  { meshLandmarker }: PipelineStages,
  image: OrientedImage,
  stopwatch: Stopwatch,
): ImageContext {
  const pyramid = createImagePyramid(image)
  const fitMesh = meshLandmarker.forImage({ pyramid, stopwatch })
  return { image, pyramid, stopwatch, fitMesh }
}

async function analyzeFaces(
  stages: PipelineStages,
  context: ImageContext,
  request: AnalysisRequest,
) {
  const { image, stopwatch, fitMesh } = context
  const { reported, counted } = await stopwatch.time('detect', () =>
    detectAndCount(stages.detector, context, request),
  )
  const largest = reported.slice(0, request.maxFaces)
  const faces: FaceResult[] = []
  let largestMesh: Mesh | undefined
  for (const detection of largest) {
    const face: DetectedFace = { detection, mesh: await fitMesh(detection) }
    largestMesh ??= face.mesh
    faces.push(await analyzeFace(stages, face, context, request))
  }
  return {
    width: image.width,
    height: image.height,
    orientationApplied: image.orientationApplied,
    faceCount: reported.length,
    faceSidesPx: shorterSidesPx(reported, image),
    faces,
    ...(counted && {
      countedFaces: counted.length,
      countedFaceSidesPx: shorterSidesPx(counted, image),
    }),
    ...(request.imageQuality && {
      imageQuality: await stopwatch.time('picture', () =>
        measureImageQuality(image.frame, largestMesh),
      ),
    }),
  }
}

/** Returns the faces that pass the minimums of the request, and the counted ones, largest first. */
async function detectAndCount(detector: Detector, context: ImageContext, request: AnalysisRequest) {
  const { countMinimums } = request
  const isReported = (face: Detection) => meetsMinimums(face, request, context.image)
  if (!countMinimums)
    return {
      reported: largestFirst(await detector.detectFaces(context, { isWanted: isReported })),
    }
  const isCounted = (face: Detection) => meetsMinimums(face, countMinimums, context.image)
  const detections = await detector.detectFaces(
    context,
    countMinimums.onlyIfNoFace
      ? { isWanted: isReported, isFallback: isCounted }
      : { isWanted: (face) => isReported(face) || isCounted(face) },
  )
  const reported = largestFirst(detections.filter(isReported))
  if (countMinimums.onlyIfNoFace && reported.length > 0) return { reported }
  return { reported, counted: largestFirst(detections.filter(isCounted)) }
}

function largestFirst(detections: readonly Detection[]): Detection[] {
  return detections.toSorted((a, b) => areaOf(b.box) - areaOf(a.box))
}

function shorterSidesPx(detections: readonly Detection[], image: OrientedImage): number[] {
  return detections.map(({ box }) => shorterSidePx(box, image))
}

/** Returns the shorter side of the box as it is reported: whole px of the oriented image. */
function shorterSidePx(box: Rect, image: OrientedImage): number {
  const { width, height } = toBoundingBox(box, image)
  return Math.min(width, height)
}

function meetsMinimums(
  { box, confidence }: Detection,
  { minFaceConfidence, minFaceSizePx }: FaceMinimums,
  image: OrientedImage,
): boolean {
  return confidence >= minFaceConfidence && shorterSidePx(box, image) >= minFaceSizePx
}

/** Runs every requested stage on one face, one after another. */
async function analyzeFace(
  { recognizers, attributes, liveness }: PipelineStages,
  face: DetectedFace,
  context: ImageContext,
  request: AnalysisRequest,
): Promise<FaceResult> {
  const { pyramid, image, stopwatch } = context
  return {
    ...(await stopwatch.time('landmarks', async () =>
      createFaceResult(face.detection, face.mesh, image),
    )),
    ...(request.crops && {
      crop: await stopwatch.time('align', () => createFaceCrop(pyramid, meshLandmarks(face.mesh))),
    }),
    ...(request.contextCrops && {
      contextCrop: await stopwatch.time('align', () =>
        createContextCrop(pyramid, face.detection.box, image),
      ),
    }),
    ...(await createTemplates(recognizers, face, context, request)),
    ...(request.attributes?.length && {
      attributes: await attributes.read(request.attributes, face, context),
    }),
    ...(request.imageQuality && { head: headPosition(face.mesh, image) }),
    ...(request.liveness && {
      liveness: await stopwatch.time('liveness', () => liveness.check(face, context)),
    }),
    ...(request.challenge && { challenge: measureChallenge(face.mesh) }),
  }
}

const alignedSidePx = 112

/**
 * Returns the face rotated, scaled and shifted to the usual 112×112 template, as a JPEG in base64.
 * Beyond the border of the image, the border pixels are repeated.
 *
 * @param landmarks in continuous coordinates of the frame.
 */
async function createFaceCrop(pyramid: ImagePyramid, landmarks: Landmarks): Promise<string> {
  const toFrame = fitSimilarityTransform(arcfaceTemplate(alignedSidePx), landmarkPoints(landmarks))
  return encodeCrop(await pyramid.sample(toFrame, { width: alignedSidePx, height: alignedSidePx }))
}

/** The side of the crop, in longer sides of the face box. Detectors need the surroundings. */
const sidePerBox = 2
/** px. A face that fills half of the crop has the largest size that any network uses. */
const sidePxMax = 320

/**
 * Returns a square crop with the face in its centre, as a JPEG in base64. It contains enough of the
 * surroundings that the whole pipeline, or a later version of it, can analyze the face again. The
 * crop is never larger than the area is in the image. Beyond the border of the image, the border
 * pixels are repeated.
 *
 * @param box of the face, in continuous coordinates of the frame.
 */
async function createContextCrop(
  pyramid: ImagePyramid,
  box: Rect,
  { width, frame }: Pick<OrientedImage, 'width' | 'frame'>,
): Promise<string> {
  const side = sidePerBox * Math.max(box.width, box.height)
  const sidePx = Math.max(1, Math.min(sidePxMax, Math.round((side * width) / frame.width)))
  const square = {
    x: box.x + (box.width - side) / 2,
    y: box.y + (box.height - side) / 2,
    width: side,
    height: side,
  }
  const size = { width: sidePx, height: sidePx }
  return encodeCrop(await pyramid.sample(cropTransform(square, size), size))
}

/** Returns a crop as a JPEG in base64. */
async function encodeCrop({ width, height, planes }: PlanarCrop): Promise<string> {
  const pixels = new Uint8Array(planes.length)
  const size = width * height
  for (let i = 0; i < size; i++)
    for (let channel = 0; channel < 3; channel++)
      pixels[3 * i + channel] = Math.round(planes[channel * size + i] ?? 0)
  return (await encodeJpeg({ width, height, pixels })).toString('base64')
}
