import { readFile } from 'node:fs/promises'
import path from 'node:path'
import { decodeFloat16 } from './float16.ts'
import type { InstalledModel } from '../pack-manifest.ts'
import { sha256Of } from '../convert/read-source.ts'

/** Strangers that the density of faces is measured against. */
export type Cohort = {
  /** Row by row, each as long as a template. */
  readonly cohort: Float32Array
  /** How many of the nearest rows make the density. */
  readonly neighbours: number
}

/**
 * Reads the cohort of an installed recognizer; undefined where it has none yet.
 *
 * @throws Error naming the file when it is missing, altered, or no whole number of rows.
 */
export async function readCohort({ folder, model }: InstalledModel): Promise<Cohort | undefined> {
  const { decoding } = model
  if (decoding.kind !== 'arcface') throw new Error(`${model.id} is no recognizer`)
  if (!decoding.cohort) return undefined
  const { file, sha256, neighbours } = decoding.cohort
  const place = path.join(folder, file)
  const bytes = await readFile(place).catch((cause: unknown) => {
    throw new Error(`cannot read the cohort ${place}`, { cause })
  })
  if (sha256Of(bytes) !== sha256)
    throw new Error(`${place} was altered: templates made with it would not compare with others`)
  const cohort = decodeFloat16(bytes)
  const rows = cohort.length / decoding.dimensions
  if (!Number.isInteger(rows) || rows < neighbours)
    throw new Error(`${place} holds no ${neighbours} rows of ${decoding.dimensions} numbers`)
  return { cohort, neighbours }
}
