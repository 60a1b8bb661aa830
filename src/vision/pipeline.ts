import type { ModelSet } from '../models/pack.ts'
import { admit } from './admit.ts'
import { alignedCrop } from './align.ts'
import type { Detection } from './agreement.ts'
import { createAttributeReader } from './attributes.ts'
import type { AttributeReader } from './attributes.ts'
import { contextCrop } from './context-crop.ts'
import { decode, prepareDecoder } from './decode.ts'
import { openDetector } from './detector.ts'
import type { Detector } from './detector.ts'
import { openExaminer } from './examiner.ts'
import type { Examiner } from './examiner.ts'
import type { Upright } from './frame.ts'
import { area } from './geometry.ts'
import { headOf } from './head.ts'
import { openLiveness } from './liveness/liveness.ts'
import type { LivenessCheck } from './liveness/liveness.ts'
import { namedLandmarks } from './mesh.ts'
import type { Mesh } from './mesh.ts'
import { pictureFacts } from './picture-facts.ts'
import { createPyramid } from './pyramid.ts'
import { openRecognizers } from './recognizer.ts'
import type { Recognizers, ToTemplate } from './recognizer.ts'
import type { Found, Scene } from './scene.ts'
import { reportedBox, seenFace } from './seen-face.ts'
import { createSessions } from './sessions.ts'
import { createStopwatch } from './stopwatch.ts'
import type { Stopwatch } from './stopwatch.ts'
import type { FaceMinima, Look, Picture, PictureLimits, SeenFace, Template, View } from './view.ts'

/** Looks at pictures, one after another; owns the model sessions. */
export type Pipeline = {
  /**
   * Decodes `picture` and reports its faces, largest first.
   *
   * @param path JSON path of the picture in the request, for messages: `params.images[0]`.
   * @throws ActionError INVALID_REQUEST, IMAGE_DECODE_FAILED, UNSUPPORTED_IMAGE_TYPE,
   *   IMAGE_TOO_SMALL or IMAGE_TOO_LARGE when the picture cannot be looked at.
   */
  readonly look: (picture: Picture, look: Look, path: string) => Promise<View>
  /** Frees the sessions; nothing may be asked afterwards. */
  readonly close: () => Promise<void>
}

export type PipelineOptions = {
  /** The folder that `preparePack` filled. */
  readonly modelsFolder: string
  /** Which models it looks with. */
  readonly set: ModelSet
  readonly limits: PictureLimits
  /** Of the built-in recognizer, for a script that fits another template model. */
  readonly toTemplate?: ToTemplate
}

export async function createPipeline(options: PipelineOptions): Promise<Pipeline> {
  prepareDecoder()
  const { modelsFolder, set, limits, toTemplate } = options
  const sessions = createSessions(modelsFolder)
  const stages: Stages = {
    examiner: await openExaminer(sessions),
    detector: await openDetector(set, sessions),
    recognizers: await openRecognizers(set, sessions, toTemplate),
    attributes: createAttributeReader(sessions),
    liveness: await openLiveness(set, sessions),
  }
  return {
    async look(picture, look, path) {
      const watch = createStopwatch()
      const upright = await watch.time('decode', () =>
        decode(admit(picture, limits, path), limits.pixelsMax, path),
      )
      const seen = await see(stages, sceneOf(stages, upright, watch), look)
      return { ...seen, timingsMs: watch.spentMs(), providers: providersFor(stages, look) }
    },
    close: sessions.close,
  }
}

/** One for each role; a stage runs on those faces and looks that ask for it. */
type Stages = {
  readonly examiner: Examiner
  readonly detector: Detector
  readonly recognizers: Recognizers
  readonly attributes: AttributeReader
  readonly liveness: LivenessCheck
}

/** Role → "id@version+…". */
function providersFor(
  { detector, examiner, recognizers, attributes, liveness }: Stages,
  look: Look,
): View['providers'] {
  return {
    detector: detector.providers,
    landmarks: examiner.providers,
    ...(look.templates && { recognizer: recognizers.active.providers }),
    ...(look.attributes?.length && { attributes: attributes.providers(look.attributes) }),
    ...(look.liveness && { liveness: liveness.providers }),
  }
}

function sceneOf({ examiner }: Stages, upright: Upright, watch: Stopwatch): Scene {
  const pyramid = createPyramid(upright)
  return { upright, pyramid, watch, examine: examiner.over({ pyramid, watch }) }
}

async function see(stages: Stages, scene: Scene, look: Look) {
  const { upright, watch, examine } = scene
  const meets = (minima: FaceMinima) => (face: Detection) => isWanted(face, minima, upright)
  const minima = look.count ? [look, look.count] : [look]
  const all = await watch.time('detect', () =>
    stages.detector.find(scene, (face) => minima.some((one) => meets(one)(face))),
  )
  const found = all.filter(meets(look))
  const counted = look.count && { counted: all.filter(meets(look.count)).length }
  const faces: SeenFace[] = []
  const largest = found.toSorted((a, b) => area(b.box) - area(a.box)).slice(0, look.maxFaces)
  let closest: Mesh | undefined
  for (const detection of largest) {
    const face: Found = { detection, mesh: await examine(detection) }
    closest ??= face.mesh
    faces.push(await seeFace(stages, face, scene, look))
  }
  const { width, height, orientationApplied } = upright
  const picture = look.picture && {
    picture: await watch.time('picture', () => pictureFacts(upright.frame, closest)),
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

function isWanted({ box, confidence }: Detection, minima: FaceMinima, upright: Upright): boolean {
  const { width, height } = reportedBox(box, upright)
  return confidence >= minima.minFaceConfidence && Math.min(width, height) >= minima.minFaceSizePx
}

/** One face by every stage that the look asks for, one after another. */
async function seeFace(
  { recognizers, attributes, liveness }: Stages,
  face: Found,
  scene: Scene,
  look: Look,
): Promise<SeenFace> {
  const { pyramid, upright, watch } = scene
  return {
    ...(await watch.time('landmarks', async () => seenFace(face.detection, face.mesh, upright))),
    ...(look.crops && {
      crop: await watch.time('align', () => alignedCrop(pyramid, namedLandmarks(face.mesh))),
    }),
    ...(look.contextCrops && {
      contextCrop: await watch.time('align', () =>
        contextCrop(pyramid, face.detection.box, upright),
      ),
    }),
    ...(look.templates && { template: await recognizers.active.template(face, scene) }),
    ...(look.attributes?.length && {
      attributes: await attributes.read(look.attributes, face, scene),
    }),
    ...(look.picture && { head: headOf(face.mesh, upright) }),
    ...(look.liveness && {
      liveness: await watch.time('liveness', () => liveness.check(face, scene)),
    }),
    ...(look.formerTemplates && {
      formerTemplates: await formerTemplates(recognizers, face, scene, look.formerTemplates),
    }),
  }
}

async function formerTemplates(
  { former }: Recognizers,
  face: Found,
  scene: Scene,
  modelIds: readonly string[],
): Promise<Template[]> {
  const templates: Template[] = []
  for (const modelId of modelIds) {
    const recognizer = former.get(modelId)
    if (recognizer) templates.push(await recognizer.template(face, scene))
  }
  return templates
}
