import { copyFile } from 'node:fs/promises'
import path from 'node:path'
import { calibrationFilesOf, isRecognizerDecoding } from '../decoding.ts'
import type { InstalledPack } from '../installed-packs.ts'
import type { PackModel } from '../pack-manifest.ts'

/**
 * Copies the cohort and the similarity table that a user created for an installed recognizer, when
 * the same network is installed again from a manifest that has neither.
 *
 * @returns the complete model; its files are in `staging`.
 */
export async function carryCalibration(
  staging: string,
  model: PackModel,
  previousPack: InstalledPack | undefined,
): Promise<PackModel> {
  const previous = previousPack?.manifest.models.find(
    ({ id, version, sha256 }) =>
      id === model.id && version === model.version && sha256 === model.sha256,
  )
  if (!previousPack || !previous || !isRecognizerDecoding(previous.decoding)) return model
  if (!isUncalibrated(model)) return model
  for (const { file } of calibrationFilesOf(previous.decoding))
    await copyFile(path.join(previousPack.folder, file), path.join(staging, file))
  return { ...model, decoding: previous.decoding }
}

function isUncalibrated({ decoding }: PackModel): boolean {
  return isRecognizerDecoding(decoding) && calibrationFilesOf(decoding).length === 0
}
