import type { ModelSet } from '../models/model-set.ts'
import { validateImage } from './image/input/validate-image.ts'
import { createFaceCrop } from './face-crop.ts'
import type { Detection } from './detect/combine-detections.ts'
import { createAttributeReader } from './attributes/attribute-reader.ts'
import type { AttributeReader } from './attributes/attribute-reader.ts'
import { createContextCrop } from './context-crop.ts'
import { decodeImage, configureDecoder } from './image/decode.ts'
import { openDetector } from './detect/open-detector.ts'
import type { Detector } from './detect/open-detector.ts'
import { openMeshLandmarker } from './landmarks/mesh-landmarker.ts'
import type { MeshLandmarker } from './landmarks/mesh-landmarker.ts'
import type { OrientedImage } from './image/frame.ts'
import { areaOf } from './image/geometry.ts'
import { headPosition } from './landmarks/head-geometry.ts'
import { openLivenessCheck } from './liveness/open-liveness-check.ts'
import type { LivenessCheck } from './liveness/open-liveness-check.ts'
import { meshLandmarks } from './landmarks/mesh.ts'
import type { Mesh } from './landmarks/mesh.ts'
import { measureImageQuality } from './quality/image-quality.ts'
import { createImagePyramid } from './image/pyramid.ts'
import { openRecognizers } from './embed/open-recognizers.ts'
import type { Recognizers, CreateTemplate } from './embed/open-recognizers.ts'
import type { DetectedFace, ImageContext } from './image-context.ts'
import { toBoundingBox, createFaceResult } from './face-result.ts'
import { createModelSessions } from './model-sessions.ts'
import { createStopwatch } from './stopwatch.ts'
import type { Stopwatch } from './stopwatch.ts'
import type {
  FaceMinimums,
  AnalysisRequest,
  EncodedImage,
  ImageLimits,
  FaceResult,
  Template,
  ImageAnalysis,
} from './image-analysis.ts'

/** Looks at pictures, one after another; owns the model sessions. */
export type Pipeline = {
  /**
   * Decodes `picture` and reports its faces, largest first.
   *
   * @param path JSON path of the picture in the request, for messages: `params.images[0]`.
   * @throws ActionError INVALID_REQUEST, IMAGE_DECODE_FAILED, UNSUPPORTED_IMAGE_TYPE,
   *   IMAGE_TOO_SMALL or IMAGE_TOO_LARGE when the picture cannot be looked at.
   */
  readonly analyzeImage: (
    picture: EncodedImage,
    look: AnalysisRequest,
    path: string,
  ) => Promise<ImageAnalysis>
  /** Frees the sessions; nothing may be asked afterwards. */
  readonly close: () => Promise<void>
}

export type PipelineOptions = {
  /** The folder that `preparePack` filled. */
  readonly modelsFolder: string
  /** Which models it looks with. */
  readonly modelSet: ModelSet
  readonly limits: ImageLimits
  /** Of the built-in recognizer, for a script that fits another template model. */
  readonly createTemplate?: CreateTemplate
}

export async function createPipeline(options: PipelineOptions): Promise<Pipeline> {
  configureDecoder()
  const { modelsFolder, modelSet: set, limits, createTemplate: toTemplate } = options
  const sessions = createModelSessions(modelsFolder)
  const stages: PipelineStages = {
    meshLandmarker: await openMeshLandmarker(sessions),
    detector: await openDetector(set, sessions),
    recognizers: await openRecognizers(set, sessions, toTemplate),
    attributes: createAttributeReader(sessions),
    liveness: await openLivenessCheck(set, sessions),
  }
  return {
    async analyzeImage(picture, look, path) {
      const watch = createStopwatch()
      const upright = await watch.time('decode', () =>
        decodeImage(validateImage(picture, limits, path), limits.pixelsMax, path),
      )
      const seen = await analyzeFaces(stages, createImageContext(stages, upright, watch), look)
      return { ...seen, timingsMs: watch.elapsedMs(), providers: providersFor(stages, look) }
    },
    close: sessions.close,
  }
}

/** One for each role; a stage runs on those faces and looks that ask for it. */
type PipelineStages = {
  readonly meshLandmarker: MeshLandmarker
  readonly detector: Detector
  readonly recognizers: Recognizers
  readonly attributes: AttributeReader
  readonly liveness: LivenessCheck
}

/** Role → "id@version+…". */
function providersFor(
  { detector, meshLandmarker: examiner, recognizers, attributes, liveness }: PipelineStages,
  look: AnalysisRequest,
): ImageAnalysis['providers'] {
  return {
    detector: detector.providers,
    landmarks: examiner.providers,
    ...(look.templates && { recognizer: recognizers.active.providers }),
    ...(look.attributes?.length && { attributes: attributes.providersFor(look.attributes) }),
    ...(look.liveness && { liveness: liveness.providers }),
  }
}

function createImageContext(
  { meshLandmarker: examiner }: PipelineStages,
  upright: OrientedImage,
  watch: Stopwatch,
): ImageContext {
  const pyramid = createImagePyramid(upright)
  return {
    image: upright,
    pyramid,
    stopwatch: watch,
    fitMesh: examiner.forImage({ pyramid, stopwatch: watch }),
  }
}

async function analyzeFaces(stages: PipelineStages, scene: ImageContext, look: AnalysisRequest) {
  const { image: upright, stopwatch: watch, fitMesh: examine } = scene
  const meets = (minima: FaceMinimums) => (face: Detection) => meetsMinimums(face, minima, upright)
  const minima = look.countMinimums ? [look, look.countMinimums] : [look]
  const all = await watch.time('detect', () =>
    stages.detector.detectFaces(scene, (face) => minima.some((one) => meets(one)(face))),
  )
  const found = all.filter(meets(look))
  const counted = look.countMinimums && {
    countedFaces: all.filter(meets(look.countMinimums)).length,
  }
  const faces: FaceResult[] = []
  const largest = found.toSorted((a, b) => areaOf(b.box) - areaOf(a.box)).slice(0, look.maxFaces)
  let closest: Mesh | undefined
  for (const detection of largest) {
    const face: DetectedFace = { detection, mesh: await examine(detection) }
    closest ??= face.mesh
    faces.push(await analyzeFace(stages, face, scene, look))
  }
  const { width, height, orientationApplied } = upright
  const picture = look.imageQuality && {
    imageQuality: await watch.time('picture', () => measureImageQuality(upright.frame, closest)),
  }
  return {
    width,
    height,
    orientationApplied,
    faceCount: found.length,
    faces,
    ...counted,
    ...picture,
  }
}

function meetsMinimums(
  { box, confidence }: Detection,
  minima: FaceMinimums,
  upright: OrientedImage,
): boolean {
  const { width, height } = toBoundingBox(box, upright)
  return confidence >= minima.minFaceConfidence && Math.min(width, height) >= minima.minFaceSizePx
}

/** One face by every stage that the look asks for, one after another. */
async function analyzeFace(
  { recognizers, attributes, liveness }: PipelineStages,
  face: DetectedFace,
  scene: ImageContext,
  look: AnalysisRequest,
): Promise<FaceResult> {
  const { pyramid, image: upright, stopwatch: watch } = scene
  return {
    ...(await watch.time('landmarks', async () =>
      createFaceResult(face.detection, face.mesh, upright),
    )),
    ...(look.crops && {
      crop: await watch.time('align', () => createFaceCrop(pyramid, meshLandmarks(face.mesh))),
    }),
    ...(look.contextCrops && {
      contextCrop: await watch.time('align', () =>
        createContextCrop(pyramid, face.detection.box, upright),
      ),
    }),
    ...(look.templates && { template: await recognizers.active.createTemplate(face, scene) }),
    ...(look.attributes?.length && {
      attributes: await attributes.read(look.attributes, face, scene),
    }),
    ...(look.imageQuality && { head: headPosition(face.mesh, upright) }),
    ...(look.liveness && {
      liveness: await watch.time('liveness', () => liveness.check(face, scene)),
    }),
    ...(look.previousTemplates && {
      previousTemplates: await createFormerTemplates(
        recognizers,
        face,
        scene,
        look.previousTemplates,
      ),
    }),
  }
}

async function createFormerTemplates(
  { former }: Recognizers,
  face: DetectedFace,
  scene: ImageContext,
  modelIds: readonly string[],
): Promise<Template[]> {
  const templates: Template[] = []
  for (const modelId of modelIds) {
    const recognizer = former.get(modelId)
    if (recognizer) templates.push(await recognizer.createTemplate(face, scene))
  }
  return templates
}
