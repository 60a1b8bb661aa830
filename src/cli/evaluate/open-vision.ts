import { systemClock } from '../../lib/clock.ts'
import { base64Length } from '../../lib/limits/call-limits.ts'
import { createLog } from '../../lib/log.ts'
import { modelsFolderOf } from '../../start/store-location.ts'
import { prepareBuiltinPack } from '../../models/builtin/prepare-builtin-pack.ts'
import { visionOptions } from '../../start/vision-options.ts'
import { prepareOptimizedNetworks } from '../../vision/optimized/optimized-networks.ts'
import { openVisionPool } from '../../vision/workers/vision-pool.ts'
import type { AnalysisRequest } from '../../vision/image-analysis.ts'
import type { EncodedImage } from '../../vision/image/input/encoded-image.ts'
import { imagesInFlightMax } from '../../evaluation/map-concurrent.ts'
import { imageFileBytesMax } from '../../evaluation/face-images.ts'
import type { CommandValues } from '../command.ts'
import { selectModelSet } from '../models/models-option.ts'
import { readSettings } from '../read-settings.ts'

/** The values of a command that evaluates a folder of images. */
export type EvaluationValues<Optional extends string = never> = CommandValues<
  'folder',
  Optional
> & {
  /** The values of `--models`. */
  readonly models: readonly string[]
}

/** Requests all faces, with the default confidence of the service. */
const analyzeAll: AnalysisRequest = {
  minFaceConfidence: 0.6,
  minFaceSizePx: 1,
  maxFaces: 100,
  crops: false,
}

export type EvaluationVisionClient = Awaited<ReturnType<typeof openVision>>

/**
 * Starts vision workers for an evaluation. A running server is neither needed nor affected.
 *
 * @param models the values of `--models`: see `selectModelSet`.
 */
export async function openVision(models: readonly string[]) {
  // The queue has room for all images in flight, of any size, and they may wait for any time.
  const config = {
    ...readSettings(),
    VISION_QUEUE_PER_WORKER_MAX: imagesInFlightMax,
    VISION_QUEUE_BYTES_MAX: imagesInFlightMax * base64Length(imageFileBytesMax),
    VISION_QUEUE_WAIT_MS_MAX: 1e9,
  }
  const log = createLog('warn')
  const modelsFolder = modelsFolderOf(config)
  await prepareBuiltinPack({ folder: modelsFolder, onProgress: () => {}, log })
  const modelSet = await selectModelSet(models, modelsFolder)
  const optimizedFolder = await prepareOptimizedNetworks({
    modelsFolder,
    modelSet,
    int8: config.VISION_INT8,
    log,
  })
  const environment = { modelsFolder, optimizedFolder, modelSet, clock: systemClock, log }
  const pool = openVisionPool(visionOptions(config, environment))
  await pool.ready()
  return {
    modelSet,
    /** Without a request, all faces are returned. */
    analyzeImage: (image: EncodedImage, request: AnalysisRequest = analyzeAll) =>
      pool.analyzeImage(image, request, { accountId: 'cli', projectId: 'cli', path: 'image' }),
    [Symbol.asyncDispose]: () => pool.close(),
  }
}
