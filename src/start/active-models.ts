import path from 'node:path'
import type { Config } from '../config.ts'
import { calibrationOf } from '../gallery/calibration/calibrations.ts'
import { readCalibration } from '../gallery/calibration/read-calibration.ts'
import type { Calibration } from '../gallery/calibration/similarity.ts'
import type { Log } from '../lib/log.ts'
import { readVerifiedActiveSet } from '../models/active-set.ts'
import { isCalibrated, type InstalledModel, type ModelSet } from '../models/model-set.ts'
import { requireRecognizerDecoding } from '../models/decoding.ts'
import { prepareBuiltinPack, type PrepareProgress } from '../models/builtin/prepare-builtin-pack.ts'
import { readTemplateModel } from '../models/template/template-model.ts'

/** What the service looks with, and what the scores of its templates mean. */
export type ActiveModels = {
  readonly modelsFolder: string
  readonly modelSet: ModelSet
  /** Of the recognizer whose templates are made from now on. */
  readonly calibration: Calibration
  /** Of those whose older templates are still compared. */
  readonly formerCalibrations: readonly Calibration[]
}

export type ActiveModelsOptions = {
  readonly log: Log
  readonly onProgress: (progress: PrepareProgress) => void
}

/**
 * Makes the built-in models ready and reads which models to use.
 *
 * @throws Error in one sentence when a file is missing or altered, or a recognizer has no table of
 *   similarities: its scores would mean nothing.
 */
export async function readActiveModels(
  config: ModelsConfig,
  { log, onProgress }: ActiveModelsOptions,
): Promise<ActiveModels> {
  const modelsFolder = modelsFolderOf(config)
  await prepareBuiltinPack({ folder: modelsFolder, onProgress, log })
  const set = await readVerifiedActiveSet(modelsFolder)
  return {
    modelsFolder,
    modelSet: set,
    calibration: await readRecognizerCalibration(set.recognizer),
    formerCalibrations: await Promise.all(set.formerRecognizers.map(readRecognizerCalibration)),
  }
}

type ModelsConfig = Pick<Config, 'MODELS_DIR' | 'DATA_DIR'>

/** A folder of its own may be part of an image: then a start writes nothing and converts nothing. */
export function modelsFolderOf(config: ModelsConfig): string {
  return config.MODELS_DIR || path.join(config.DATA_DIR, 'models')
}

/** @throws Error when the recognizer has no table of its own, or a broken one. */
export async function readRecognizerCalibration(
  recognizer: ModelSet['recognizer'],
): Promise<Calibration> {
  if (recognizer !== 'builtin') return readInstalledCalibration(recognizer)
  const { modelId } = await readTemplateModel()
  const calibration = calibrationOf(modelId)
  if (!calibration) throw new Error(`there is no calibration of ${modelId}`)
  return calibration
}

async function readInstalledCalibration({ folder, model }: InstalledModel): Promise<Calibration> {
  const decoding = requireRecognizerDecoding(model)
  const modelId = `${model.id}@${model.version}`
  if (!isCalibrated({ folder, model }) || decoding.calibration === undefined)
    throw new Error(
      `the recognizer ${modelId} of ${folder} has no table of similarities yet; make it with ` +
        `facegate evaluate verification <folder of people> --models ${folder} --calibrate ${folder}, ` +
        'or go back with facegate models use builtin',
    )
  const place = path.join(folder, decoding.calibration)
  const calibration = await readCalibration(place)
  if (calibration.modelId !== modelId)
    throw new Error(`${place} is the table of ${calibration.modelId}, not of ${modelId}`)
  return calibration
}
