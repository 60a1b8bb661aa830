import { readFile } from 'node:fs/promises'
import path from 'node:path'
import { z } from 'zod'
import type { RecognizerFit } from './fit-recognizer.ts'
import type { Calibration } from '../../gallery/calibration/similarity.ts'
import { encodeFloat16 } from '../../models/template/float16.ts'
import { manifestFileName, readPack } from '../../models/installed-packs.ts'
import { writeFileAtomic } from '../../models/artifact-file.ts'
import type { InstalledModel } from '../../models/model-set.ts'
import { sha256Of } from '../../models/sha256.ts'

/** What a calibration of a recognizer made: its table, and its cohort where it had none. */
export type CalibrationOutput = {
  readonly calibration: Calibration
  readonly cohort?: Pick<RecognizerFit, 'cohort' | 'neighbours'>
}

/**
 * Writes table and cohort into the pack's folder and names them in its manifest, that last: a pack
 * never names what is not there.
 *
 * @returns the names of the files.
 */
export async function writeCalibration(
  { folder, model }: InstalledModel,
  { calibration: table, cohort }: CalibrationOutput,
): Promise<string[]> {
  const tableFile = `${model.id}.calibration.json`
  await writeFileAtomic(path.join(folder, tableFile), jsonBytes(table))
  const named: Record<string, unknown> = { calibration: tableFile }
  const cohortFile = `${model.id}.cohort.f16`
  if (cohort) {
    const bytes = encodeFloat16(cohort.cohort)
    await writeFileAtomic(path.join(folder, cohortFile), bytes)
    const { neighbours } = cohort
    named['cohort'] = { file: cohortFile, sha256: sha256Of(bytes), neighbours }
  }
  await addToManifest(folder, model.id, named)
  return [...(cohort ? [cohortFile] : []), tableFile, manifestFileName]
}

/** Only what is added changes: defaults that the manifest left out stay out. */
async function addToManifest(
  folder: string,
  modelId: string,
  named: Readonly<Record<string, unknown>>,
): Promise<void> {
  const place = path.join(folder, manifestFileName)
  const manifest = jsonObject.parse(JSON.parse(await readFile(place, 'utf8')))
  const models = z.array(jsonObject).parse(manifest['models'])
  const changed = models.map((model) =>
    model['id'] === modelId
      ? { ...model, decoding: { ...jsonObject.parse(model['decoding']), ...named } }
      : model,
  )
  await writeFileAtomic(place, jsonBytes({ ...manifest, models: changed }))
  await readPack(folder)
}

const jsonObject = z.record(z.string(), z.unknown())

function jsonBytes(value: unknown): Buffer {
  return Buffer.from(`${JSON.stringify(value, null, 2)}\n`)
}
