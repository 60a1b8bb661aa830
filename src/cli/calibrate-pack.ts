import { readFile } from 'node:fs/promises'
import path from 'node:path'
import { z } from 'zod'
import type { RecognizerFit } from '../../eval/fit/recognizer.ts'
import type { Calibration } from '../gallery/similarity.ts'
import { writeHalves } from '../models/halves.ts'
import { manifestFile, readPack } from '../models/installed.ts'
import type { InstalledModel } from '../models/pack.ts'
import { writeProduct } from '../models/product.ts'
import { sha256Of } from '../models/source.ts'

/** What a calibration of a recognizer made: its table, and its cohort where it had none. */
export type Made = {
  readonly table: Calibration
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
  { table, cohort }: Made,
): Promise<string[]> {
  const tableFile = `${model.id}.calibration.json`
  await writeProduct(path.join(folder, tableFile), jsonBytes(table))
  const named: Record<string, unknown> = { calibration: tableFile }
  const cohortFile = `${model.id}.cohort.f16`
  if (cohort) {
    const bytes = writeHalves(cohort.cohort)
    await writeProduct(path.join(folder, cohortFile), bytes)
    const { neighbours } = cohort
    named['cohort'] = { file: cohortFile, sha256: sha256Of(bytes), neighbours }
  }
  await nameInManifest(folder, model.id, named)
  return [...(cohort ? [cohortFile] : []), tableFile, manifestFile]
}

/** Only what is added changes: defaults that the manifest left out stay out. */
async function nameInManifest(
  folder: string,
  modelId: string,
  named: Readonly<Record<string, unknown>>,
): Promise<void> {
  const place = path.join(folder, manifestFile)
  const manifest = written.parse(JSON.parse(await readFile(place, 'utf8')))
  const models = manifest.models.map((model) =>
    model.id === modelId ? { ...model, decoding: { ...model.decoding, ...named } } : model,
  )
  await writeProduct(place, jsonBytes({ ...manifest, models }))
  await readPack(folder)
}

/** As much of a manifest as is changed here; the rest is kept as it is. */
const written = z.looseObject({
  models: z.array(z.looseObject({ id: z.string(), decoding: z.looseObject({}) })),
})

function jsonBytes(value: unknown): Buffer {
  return Buffer.from(`${JSON.stringify(value, null, 2)}\n`)
}
