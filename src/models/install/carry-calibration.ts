import { copyFile } from 'node:fs/promises'
import path from 'node:path'
import type { InstalledPack } from '../installed-packs.ts'
import { modelFilesOf, type PackModel } from '../pack-manifest.ts'

/**
 * What a user has made for an installed embedder, its cohort and its table of similarities, is taken
 * over when the same network is installed again from a manifest that has neither.
 *
 * @returns the model, complete; its files are in `staging`.
 */
export async function carryCalibration(
  staging: string,
  model: PackModel,
  before: InstalledPack | undefined,
): Promise<PackModel> {
  const old = before?.manifest.models.find(
    ({ id, version, sha256 }) =>
      id === model.id && version === model.version && sha256 === model.sha256,
  )
  if (!before || old?.decoding.kind !== 'arcface' || !isUncalibrated(model)) return model
  const carried = { ...model, decoding: old.decoding }
  for (const file of modelFilesOf(carried).slice(1))
    await copyFile(path.join(before.folder, file), path.join(staging, file))
  return carried
}

function isUncalibrated({ decoding }: PackModel): boolean {
  return decoding.kind === 'arcface' && !decoding.cohort && decoding.calibration === undefined
}
