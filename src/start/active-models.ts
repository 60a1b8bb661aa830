import path from 'node:path'
import type { Config } from '../config.ts'
import { calibrationOf } from '../gallery/calibration/calibrations.ts'
import { readCalibration } from '../gallery/calibration/read-calibration.ts'
import type { Log } from '../lib/log.ts'
import { readVerifiedActiveSet } from '../models/active-set.ts'
import { recognizerModelId, type ModelSet } from '../models/model-set.ts'
import { requireRecognizerDecoding } from '../models/decoding.ts'
import { prepareBuiltinPack, type PrepareProgress } from '../models/builtin/prepare-builtin-pack.ts'
import { requireLicences, type LicenceSettings } from '../models/require-licences.ts'
import { describeUncalibrated } from '../models/select-models.ts'
import { modelsFolderOf } from './store-location.ts'
import { prepareOptimizedNetworks } from '../vision/optimized/optimized-networks.ts'

/** The models of this process, and the calibrations that turn their scores into similarities. */
export type ActiveModels = Awaited<ReturnType<typeof readActiveModels>>

export type ActiveModelsOptions = {
  readonly log: Log
  readonly onProgress: (progress: PrepareProgress) => void
}

/**
 * Prepares the built-in models and reads which models to use.
 *
 * @throws Error in one sentence when a file is missing or altered, when MODEL_LICENCES refuses a
 *   network, or when a recognizer has no calibration: its scores would have no meaning.
 */
export async function readActiveModels(
  config: Pick<Config, 'MODELS_DIR' | 'DATA_DIR' | 'VISION_INT8'> & LicenceSettings,
  { log, onProgress }: ActiveModelsOptions,
) {
  const modelsFolder = modelsFolderOf(config)
  await prepareBuiltinPack({ folder: modelsFolder, onProgress, log })
  const modelSet = await readVerifiedActiveSet(modelsFolder)
  await requireLicences(config, modelsFolder, modelSet)
  const { recognizer, formerRecognizers } = modelSet
  return {
    modelsFolder,
    /** The folder of the networks that are optimized for this processor. */
    optimizedFolder: await prepareOptimizedNetworks({
      modelsFolder,
      modelSet,
      fallbackFolder: path.join(config.DATA_DIR, 'models'),
      int8: config.VISION_INT8,
      log,
    }),
    modelSet,
    /** Of the active recognizer: new templates are created with it. */
    calibration: await readRecognizerCalibration(recognizer),
    /** Of the former recognizers: their existing templates are still compared. */
    formerCalibrations: await Promise.all(formerRecognizers.map(readRecognizerCalibration)),
  }
}

/** @throws Error when the recognizer has no calibration, or an invalid one. */
export async function readRecognizerCalibration(recognizer: ModelSet['recognizer']) {
  const modelId = recognizerModelId(recognizer)
  if (recognizer === 'builtin') {
    const shipped = calibrationOf(modelId)
    if (!shipped) throw new Error(`there is no calibration of ${modelId}`)
    return shipped
  }
  const { cohort, calibration: fileName } = requireRecognizerDecoding(recognizer.model)
  if (!cohort || fileName === undefined)
    throw new Error(
      `${describeUncalibrated(recognizer)}, or return to the built-in models with ` +
        'facegate models use builtin',
    )
  const file = path.join(recognizer.folder, fileName)
  const calibration = await readCalibration(file)
  if (calibration.modelId !== modelId)
    throw new Error(`${file} is the calibration of ${calibration.modelId}, not of ${modelId}`)
  return { ...calibration, populations: cohort.origin }
}
