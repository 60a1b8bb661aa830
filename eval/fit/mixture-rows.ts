import { readFile } from 'node:fs/promises'
import path from 'node:path'
import { parse } from 'csv-parse/sync'
import { sha256Of } from '../../src/models/sha256.ts'
import { decodeFloat16 } from '../../src/models/template/float16.ts'

/** Mixtures of faces that extend the cohort: see the manifest of the template model. */
export type MixtureRows = {
  /** Fused vectors before the projection, made with the centre of the shipped model. */
  readonly fused: readonly Float32Array[]
  /** The group, gender and age band of each row, from the labels of its set. */
  readonly cells: readonly MixtureCell[]
  readonly sha256: string
}

export type MixtureCell = {
  readonly group: string
  readonly gender: string
  readonly age: string
}

export const mixtureFile = 'fused-mixtures.f16'
const mixtureSha256 = '42da724481fd4b79b0198e064060a35791abfe987459c33a5daf757355e3bf16'
/** 128 values of dlib, then 1,024 of faceres. */
const fusedSize = 1152

/**
 * Reads the mixtures and `rows.csv` from their folder.
 *
 * @throws Error when the mixtures are not those that were measured, or when the row counts differ.
 */
export async function readMixtureRows(folder: string): Promise<MixtureRows> {
  const bytes = await readFile(path.join(folder, mixtureFile))
  const sha256 = sha256Of(bytes)
  if (sha256 !== mixtureSha256)
    throw new Error(`${path.join(folder, mixtureFile)} must have the sha256 ${mixtureSha256}`)
  const values = decodeFloat16(bytes)
  const cells: MixtureCell[] = parse(await readFile(path.join(folder, 'rows.csv'), 'utf8'), {
    columns: true,
  })
  if (values.length !== cells.length * fusedSize)
    throw new Error(`rows.csv has ${cells.length} rows, not ${values.length / fusedSize}`)
  const fused = cells.map((_, row) => values.subarray(row * fusedSize, (row + 1) * fusedSize))
  return { fused, cells, sha256 }
}
