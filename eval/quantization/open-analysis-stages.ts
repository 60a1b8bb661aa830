import { tmpdir } from 'node:os'
import path from 'node:path'
import type { BuiltinModel, BuiltinModelId } from '../../src/models/builtin/builtin-model.ts'
import { builtinPack } from '../../src/models/builtin/builtin-pack.ts'
import { prepareBuiltinPack } from '../../src/models/builtin/prepare-builtin-pack.ts'
import { builtinSet } from '../../src/models/model-set.ts'
import { readImage } from '../../src/evaluation/face-images.ts'
import { openDetector } from '../../src/vision/detect/open-detector.ts'
import { openRecognizers } from '../../src/vision/embed/open-recognizers.ts'
import type { ImageContext } from '../../src/vision/image-context.ts'
import { configureDecoder, openImage } from '../../src/vision/image/decode.ts'
import { createImagePyramid } from '../../src/vision/image/pyramid.ts'
import { openMeshLandmarker } from '../../src/vision/landmarks/mesh-landmarker.ts'
import { createModelSessions, type ModelSessions } from '../../src/vision/model-sessions.ts'
import { openBuiltinModel, type ModelOutputs } from '../../src/vision/session.ts'
import { createStopwatch } from '../../src/vision/stopwatch.ts'

export type AnalysisStagesOptions = {
  /** The network that is replaced by a file of the same name in `folder`. */
  readonly id: BuiltinModelId
  readonly folder: string
  /** Receives the outputs of each run of this network. */
  readonly onOutputs: (outputs: ModelOutputs) => void
}

/** Opens the stages of an analysis with one of the networks replaced. */
export async function openAnalysisStages({ id, folder, onOutputs }: AnalysisStagesOptions) {
  const modelsFolder = path.join(tmpdir(), 'facegate-models')
  const models = Object.values<BuiltinModel>(builtinPack.models).map(withoutInt8)
  await prepareBuiltinPack({ folder: modelsFolder, models })
  const original = createModelSessions(modelsFolder)
  const replaced = await openBuiltinModel(folder, builtinPack.models[id])
  const recorded = {
    ...replaced,
    async run(...input: Parameters<typeof replaced.run>) {
      const outputs = await replaced.run(...input)
      onOutputs(outputs)
      return outputs
    },
  }
  const sessions: ModelSessions = {
    ...original,
    openBuiltin: async (model) => (model === id ? recorded : original.openBuiltin(model)),
  }
  configureDecoder()
  const detector = await openDetector(builtinSet, sessions)
  const recognizers = await openRecognizers(builtinSet, sessions)
  const landmarker = await openMeshLandmarker(sessions)

  async function analyze(file: string): Promise<void> {
    const limits = { bytesMax: 2 ** 28, pixelsMax: 1e8, sideMinPx: 32 }
    const image = await openImage(await readImage(file), limits, file)
    const pyramid = createImagePyramid(image)
    const stopwatch = createStopwatch()
    const fitMesh = landmarker.forImage({ pyramid, stopwatch })
    const context: ImageContext = { image, pyramid, stopwatch, fitMesh }
    for (const detection of await detector.detectFaces(context, {
      isWanted: ({ confidence }) => confidence > 0.6,
    }))
      await recognizers.active.createTemplate(
        { detection, mesh: await fitMesh(detection) },
        context,
      )
  }

  return {
    analyze,
    async close() {
      await original.close()
      await replaced.close()
    },
  }
}

/** The int8 versions are not used, and can be those of other ranges while ranges are measured. */
function withoutInt8({ int8, ...model }: BuiltinModel): BuiltinModel {
  void int8
  return model
}
