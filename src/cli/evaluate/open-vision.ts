import { readConfig } from '../../config.ts'
import { systemClock } from '../../lib/clock.ts'
import { createLog } from '../../lib/log.ts'
import { modelsFolderOf } from '../../start/active-models.ts'
import type { ModelSet } from '../../models/model-set.ts'
import { prepareBuiltinPack } from '../../models/builtin/prepare-builtin-pack.ts'
import { visionOptions } from '../../start/services.ts'
import { openVisionPool } from '../../vision/workers/vision-pool.ts'
import type { AnalysisRequest, EncodedImage, ImageAnalysis } from '../../vision/image-analysis.ts'
import { selectModelSet } from '../models/models-option.ts'

/** What an evaluation looks for: everything, by the defaults of the service. */
const analyzeAll: AnalysisRequest = {
  minFaceConfidence: 0.6,
  minFaceSizePx: 1,
  maxFaces: 100,
  crops: false,
}

export type EvaluationVisionClient = AsyncDisposable & {
  readonly modelSet: ModelSet
  /** Looks for everything where nothing else is said. */
  readonly analyzeImage: (picture: EncodedImage, look?: AnalysisRequest) => Promise<ImageAnalysis>
}

/**
 * Vision workers of the command's own; no server need run, and a running one is not disturbed.
 *
 * @param models what `--models` says: see `chosenSet`.
 */
export async function openVision(models: readonly string[]): Promise<EvaluationVisionClient> {
  // A folder full of pictures may wait for as long as it takes.
  const config = {
    ...readConfig(process.env),
    VISION_QUEUE_PER_WORKER_MAX: 1e6,
    VISION_QUEUE_WAIT_MS_MAX: 1e9,
  }
  const log = createLog('warn')
  const modelsFolder = modelsFolderOf(config)
  await prepareBuiltinPack({ folder: modelsFolder, onProgress: () => {}, log })
  const set = await selectModelSet(models, modelsFolder)
  const pool = openVisionPool(
    visionOptions(config, { modelsFolder, modelSet: set, clock: systemClock, log }),
  )
  await pool.ready()
  return {
    modelSet: set,
    analyzeImage: (picture, look = analyzeAll) =>
      pool.analyzeImage(picture, look, { projectId: 'cli', path: 'picture' }),
    [Symbol.asyncDispose]: () => pool.close(),
  }
}
