import { readFile } from 'node:fs/promises'
import path from 'node:path'
import { z } from 'zod'
import type { RecognizerFit } from './fit-recognizer.ts'
import type { Calibration } from '../../gallery/calibration/similarity.ts'
import { encodeFloat16 } from '../../models/template/float16.ts'
import { manifestFileName, readPack } from '../../models/installed-packs.ts'
import { writeFileAtomic } from '../../models/artifact-file.ts'
import { requireRecognizerDecoding } from '../../models/decoding.ts'
import type { InstalledModel } from '../../models/model-set.ts'
import { sha256Of } from '../../models/sha256.ts'

/** The calibration table of a recognizer, and its cohort if it had none. */
export type CalibrationOutput = {
  readonly calibration: Calibration
  readonly cohort?: Pick<RecognizerFit, 'cohort' | 'neighbours' | 'mixtures'> & {
    readonly origin?: string | undefined
  }
}

/**
 * Writes the table and the cohort to the pack's folder and adds them to its manifest. The manifest
 * is written last, so that it never names a missing file.
 *
 * @returns the names of the written files.
 */
export async function writeCalibration(
  { folder, model, withBuiltin = false }: InstalledModel,
  { calibration, cohort }: CalibrationOutput,
): Promise<string[]> {
  const name = withBuiltin ? `${model.id}.builtin` : model.id
  const tableFile = `${name}.calibration.json`
  await writeFileAtomic(path.join(folder, tableFile), jsonBytes(calibration))
  const addedFields: Record<string, unknown> = { calibration: tableFile }
  const cohortFile = `${name}.cohort.f16`
  if (cohort) {
    const bytes = encodeFloat16(cohort.cohort)
    await writeFileAtomic(path.join(folder, cohortFile), bytes)
    const { neighbours, origin, mixtures } = cohort
    const sha256 = sha256Of(bytes)
    addedFields['cohort'] = { file: cohortFile, sha256, neighbours, origin, mixtures }
  }
  const known = requireRecognizerDecoding(model).withBuiltin
  const fields = withBuiltin ? { withBuiltin: { ...known, ...addedFields } } : addedFields
  await addToManifest(folder, model.id, fields)
  return [...(cohort ? [cohortFile] : []), tableFile, manifestFileName]
}

/** Changes only the added fields. Fields that the manifest leaves to their defaults stay left out. */
async function addToManifest(
  folder: string,
  modelId: string,
  addedFields: Readonly<Record<string, unknown>>,
): Promise<void> {
  const manifestFile = path.join(folder, manifestFileName)
  const manifest = jsonObject.parse(JSON.parse(await readFile(manifestFile, 'utf8')))
  const models = z.array(jsonObject).parse(manifest['models'])
  const changedModels = models.map((model) =>
    model['id'] === modelId
      ? { ...model, decoding: { ...jsonObject.parse(model['decoding']), ...addedFields } }
      : model,
  )
  await writeFileAtomic(manifestFile, jsonBytes({ ...manifest, models: changedModels }))
  await readPack(folder)
}

const jsonObject = z.record(z.string(), z.unknown())

function jsonBytes(value: unknown): Buffer {
  return Buffer.from(`${JSON.stringify(value, null, 2)}\n`)
}
