import path from 'node:path'
import type { Config } from './config.ts'
import { calibrationOf } from './gallery/calibrations.ts'
import { readCalibration } from './gallery/read-calibration.ts'
import type { Calibration } from './gallery/similarity.ts'
import type { Log } from './lib/log.ts'
import { readModelSet } from './models/active.ts'
import { isCalibrated } from './models/is-calibrated.ts'
import type { InstalledModel, ModelSet } from './models/pack.ts'
import { preparePack, type PackProgress } from './models/prepare.ts'
import { readTemplateModel } from './models/template.ts'

/** What the service looks with, and what the scores of its templates mean. */
export type ModelsInUse = {
  readonly modelsFolder: string
  readonly set: ModelSet
  /** Of the recognizer whose templates are made from now on. */
  readonly calibration: Calibration
  /** Of those whose older templates are still compared. */
  readonly formerCalibrations: readonly Calibration[]
}

export type ModelsOptions = {
  readonly log: Log
  readonly onProgress: (progress: PackProgress) => void
}

/**
 * Makes the built-in models ready and reads which models to use.
 *
 * @throws Error in one sentence when a file is missing or altered, or a recognizer has no table of
 *   similarities: its scores would mean nothing.
 */
export async function readModelsInUse(
  config: ModelsPlace,
  { log, onProgress }: ModelsOptions,
): Promise<ModelsInUse> {
  const modelsFolder = modelsFolderOf(config)
  await preparePack({ folder: modelsFolder, onProgress, log })
  const set = await readModelSet(modelsFolder)
  return {
    modelsFolder,
    set,
    calibration: await calibrationFor(set.recognizer),
    formerCalibrations: await Promise.all(set.formerRecognizers.map(calibrationFor)),
  }
}

type ModelsPlace = Pick<Config, 'MODELS_DIR' | 'DATA_DIR'>

/** A folder of its own may be part of an image: then a start writes nothing and converts nothing. */
export function modelsFolderOf(config: ModelsPlace): string {
  return config.MODELS_DIR || path.join(config.DATA_DIR, 'models')
}

/** @throws Error when the recognizer has no table of its own, or a broken one. */
export async function calibrationFor(recognizer: ModelSet['recognizer']): Promise<Calibration> {
  if (recognizer !== 'builtin') return installedCalibration(recognizer)
  const { modelId } = await readTemplateModel()
  const calibration = calibrationOf(modelId)
  if (!calibration) throw new Error(`there is no calibration of ${modelId}`)
  return calibration
}

async function installedCalibration({ folder, model }: InstalledModel): Promise<Calibration> {
  const { decoding } = model
  const modelId = `${model.id}@${model.version}`
  if (decoding.kind !== 'arcface') throw new Error(`${modelId} of ${folder} is no recognizer`)
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
