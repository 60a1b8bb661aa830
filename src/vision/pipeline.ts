import { builtinPack } from '../models/builtin.ts'
import { readTemplateModel } from '../models/template.ts'
import { admit } from './admit.ts'
import { alignedCrop } from './align.ts'
import { blazeface } from './blazeface.ts'
import { contextCrop } from './context-crop.ts'
import { cutFaces } from './cut-faces.ts'
import { decode, prepareDecoder } from './decode.ts'
import { detect } from './detect.ts'
import { createExaminer } from './examine.ts'
import type { Upright } from './frame.ts'
import { area } from './geometry.ts'
import { namedLandmarks } from './mesh.ts'
import { createPyramid } from './pyramid.ts'
import { reportedBox, seenFace } from './seen-face.ts'
import { openSession } from './session.ts'
import type { Session } from './session.ts'
import { ssd } from './ssd.ts'
import { templateOf } from './template.ts'
import { createTemplater } from './templater.ts'
import type { ToTemplate } from './templater.ts'
import type { Look, Picture, PictureLimits, SeenFace, View } from './view.ts'

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

/** `modelsFolder` is the folder that `preparePack` filled. */
export type PipelineOptions = {
  readonly modelsFolder: string
  readonly limits: PictureLimits
  /** The built-in model's; another is for those who fit one. */
  readonly toTemplate?: ToTemplate
}

export async function createPipeline(options: PipelineOptions): Promise<Pipeline> {
  prepareDecoder()
  const { modelsFolder, limits, toTemplate = await builtinTemplate() } = options
  const sessions = await openSessions(modelsFolder)
  return {
    async look(picture, look, path) {
      const startMs = performance.now()
      const upright = await decode(admit(picture, limits, path), limits.pixelsMax, path)
      const decodeMs = performance.now() - startMs
      const { timingsMs, ...seen } = await see({ sessions, toTemplate }, upright, look)
      return { ...seen, timingsMs: { decode: decodeMs, ...timingsMs }, providers }
    },
    async close() {
      for (const session of Object.values(sessions)) await session.close()
    },
  }
}

type Sessions = Readonly<
  Record<'blazeface' | 'ssd' | 'landmarks' | 'mesh' | 'dlib' | 'faceres', Session>
>

const { models } = builtinPack

async function openSessions(folder: string): Promise<Sessions> {
  return {
    blazeface: await openSession(folder, models.blazeface),
    ssd: await openSession(folder, models.ssd_mobilenetv1),
    landmarks: await openSession(folder, models.face_landmark_68),
    mesh: await openSession(folder, models.facemesh),
    dlib: await openSession(folder, models.face_recognition),
    faceres: await openSession(folder, models.faceres),
  }
}

async function builtinTemplate(): Promise<ToTemplate> {
  const model = await readTemplateModel()
  return (descriptor) => templateOf(descriptor, model)
}

const providers = {
  detector: [models.blazeface, models.ssd_mobilenetv1].map(nameOf).join('+'),
  landmarks: [models.face_landmark_68, models.facemesh].map(nameOf).join('+'),
  recognizer: [models.face_recognition, models.faceres].map(nameOf).join('+'),
}

function nameOf({ id, version }: { readonly id: string; readonly version: string }): string {
  return `${id}@${version}`
}

type Tools = { readonly sessions: Sessions; readonly toTemplate: ToTemplate }

async function see({ sessions, toTemplate }: Tools, upright: Upright, look: Look) {
  const { frame, width, height, orientationApplied } = upright
  const startMs = performance.now()
  const pyramid = createPyramid(upright)
  const { examine, spentMs } = createExaminer(sessions, pyramid)
  const detectors = {
    blazeface: () => blazeface(sessions.blazeface, frame),
    ssd: () => ssd(sessions.ssd, frame),
    cut: () => cutFaces(sessions.blazeface, frame),
    examine,
  }
  const found = await detect(detectors, frame, ({ box, confidence }) => {
    const reported = reportedBox(box, upright)
    const shorterSide = Math.min(reported.width, reported.height)
    return confidence >= look.minFaceConfidence && shorterSide >= look.minFaceSizePx
  })
  const detectMs = performance.now() - startMs - spentMs()
  const templater = createTemplater(sessions, pyramid, toTemplate)
  const faces: SeenFace[] = []
  for (const face of found.toSorted((a, b) => area(b.box) - area(a.box)).slice(0, look.maxFaces)) {
    const mesh = await examine(face.box)
    const seen = seenFace(face, mesh, upright)
    const crop = look.crops && { crop: await alignedCrop(pyramid, namedLandmarks(mesh)) }
    const template = look.templates && { template: await templater.make(mesh) }
    const context = look.contextCrops && {
      contextCrop: await contextCrop(pyramid, face.box, upright),
    }
    faces.push({ ...seen, ...crop, ...template, ...context })
  }
  const { align, embed } = templater.spentMs()
  const landmarks = performance.now() - startMs - detectMs - align - embed
  const timingsMs = { detect: detectMs, landmarks, align, embed }
  return { width, height, orientationApplied, faceCount: found.length, faces, timingsMs }
}
