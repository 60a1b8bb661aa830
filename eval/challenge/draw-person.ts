import { toEncodedImage } from '../../src/evaluation/face-images.ts'
import type { RandomSource } from '../../src/lib/random/seeded-random.ts'
import { builtinSet } from '../../src/models/model-set.ts'
import { type Frame, decodeImage } from '../../src/vision/image/decode.ts'
import type { Mesh } from '../../src/vision/landmarks/mesh.ts'
import { createPipeline } from '../../src/vision/pipeline.ts'
import { drawView, viewKinds, type ViewSource } from './drawn-views.ts'
import type { DrawnPerson, PersonViews } from './draw-sequences.ts'
import { openMeshReader } from './read-mesh.ts'

/** A photograph of one frontal face. */
export type SourcePicture = {
  readonly person: string
  readonly frame: Frame
  readonly mesh: Mesh
}

type Drawing = AsyncDisposable & {
  /** Returns undefined unless the picture shows one frontal face of sufficient quality. */
  readonly readFrontal: (bytes: Buffer, person: string) => Promise<SourcePicture | undefined>
  /** Draws all kinds of views. @param behind another person, visible through the holes of masks. */
  readonly drawPerson: (
    picture: SourcePicture,
    behind: SourcePicture,
    random: RandomSource,
  ) => Promise<DrawnPerson>
}

const limits = { bytesMax: 2 ** 23, pixelsMax: 4e7, sideMinPx: 32 }
const request = { minFaceConfidence: 0.6, minFaceSizePx: 60, maxFaces: 1, crops: false }

/** Degrees: a face that is turned further is not frontal. */
const offAxisMax = 8
const qualityMin = 65

/** @param modelsFolder the folder that `prepareBuiltinPack` filled. */
export async function openDrawing(modelsFolder: string): Promise<Drawing> {
  const meshReader = await openMeshReader(modelsFolder)
  const pipeline = await createPipeline({ modelsFolder, modelSet: builtinSet, limits })
  return {
    async readFrontal(bytes, person) {
      const image = toEncodedImage(bytes)
      const { faces, faceCount } = await pipeline.analyzeImage(image, request, person)
      const [face] = faces
      if (!face || faceCount > 1 || face.qualityScore < qualityMin) return undefined
      const { yaw, pitch } = face.pose
      if (Math.max(Math.abs(yaw), Math.abs(pitch)) > offAxisMax) return undefined
      const { frame } = await decodeImage(bytes, limits.pixelsMax, person)
      const { left, top, width, height } = face.boundingBox
      const mesh = await meshReader.readMesh(frame, { x: left, y: top, width, height })
      return { person, frame, mesh }
    },
    async drawPerson({ person, frame, mesh }, behind, random) {
      const views = new Map<string, PersonViews>()
      for (const kind of viewKinds)
        views.set(kind.name, await drawPersonViews(kind, { frame, mesh, behind }, random))
      return { name: person, views }
    },
    async [Symbol.asyncDispose]() {
      await pipeline.close()
      await meshReader[Symbol.asyncDispose]()
    },
  }
}

async function drawPersonViews(
  kind: (typeof viewKinds)[number],
  source: ViewSource,
  random: RandomSource,
): Promise<PersonViews> {
  const draw = (step?: keyof PersonViews['steps']): Promise<Buffer> =>
    drawView(kind, source, { step, random })
  const drawSteps = async () => ({
    turnLeft: await draw('turnLeft'),
    turnRight: await draw('turnRight'),
    lookUp: await draw('lookUp'),
    lookDown: await draw('lookDown'),
  })
  const steps = await drawSteps()
  // Only a head must not show one picture twice: prints are attacks in any case.
  const stepsAgain = kind.name === 'head' ? await drawSteps() : steps
  return { front: await draw(), steps, stepsAgain }
}
