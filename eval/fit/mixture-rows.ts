import { readFile } from 'node:fs/promises'
import path from 'node:path'
import { parse } from 'csv-parse/sync'
import { sha256Of } from '../../src/models/sha256.ts'
import { decodeFloat16 } from '../../src/models/template/float16.ts'
import type { TemplateModel } from '../../src/models/template/template-model.ts'

/** Mixtures of faces that extend the cohort: see the manifest of the template model. */
export type MixtureRows = {
  /** Fused vectors before the projection, made with the centre of the shipped model. */
  readonly fused: readonly Float32Array[]
  /** The group, gender and age band of each row, from the labels of its set. */
  readonly cells: readonly MixtureCell[]
}

export type MixtureCell = {
  readonly group: string
  readonly gender: string
  readonly age: string
}

/** The files of the mixtures, each with the SHA-256 of the measured version. */
export const mixtureFiles = {
  /** Rows of 1,152 values: 128 of dlib, then 1,024 of faceres. `rows.csv` has their cells. */
  'fused-mixtures.f16': '42da724481fd4b79b0198e064060a35791abfe987459c33a5daf757355e3bf16',
  /** 20 East-Asian boys and 20 East-Asian girls, projected to the axes of the shipped model. */
  'children-256.f16': '38f837fe2e22b27b64726358fe7e5de24d5e0aa203d2f49130aeb2aa3c271289',
} as const

/**
 * Reads the mixtures and `rows.csv` from their folder.
 *
 * The projected rows are converted back to fused vectors. What the projection removed stays removed: on
 * the axes of another model these rows are a little nearer to the mean.
 *
 * @param model the axes of the projected rows.
 * @throws Error when the mixtures are not those that were measured, or when the row counts differ.
 */
export async function readMixtureRows(
  folder: string,
  model: Pick<TemplateModel, 'mean' | 'axes'>,
): Promise<MixtureRows> {
  const { mean, axes } = model
  const mixed = await readRows(folder, 'fused-mixtures.f16', mean.length)
  const cells: MixtureCell[] = parse(await readFile(path.join(folder, 'rows.csv'), 'utf8'), {
    columns: true,
  })
  if (mixed.length !== cells.length)
    throw new Error(`rows.csv has ${cells.length} rows, not ${mixed.length}`)
  const children = await readRows(folder, 'children-256.f16', axes.length / mean.length)
  const childCells = children.map((_, row) => ({
    group: 'asian',
    gender: row < children.length / 2 ? 'male' : 'female',
    age: '3-15',
  }))
  return {
    fused: [...mixed, ...children.map((row) => expandRow(row, model))],
    cells: [...cells, ...childCells],
  }
}

async function readRows(
  folder: string,
  name: keyof typeof mixtureFiles,
  rowLength: number,
): Promise<Float32Array[]> {
  const file = path.join(folder, name)
  const bytes = await readFile(file)
  if (sha256Of(bytes) !== mixtureFiles[name])
    throw new Error(`${file} must have the sha256 ${mixtureFiles[name]}`)
  const values = decodeFloat16(bytes)
  return Array.from({ length: values.length / rowLength }, (_, row) =>
    values.subarray(row * rowLength, (row + 1) * rowLength),
  )
}

/** Returns the fused vector whose coordinates along the axes are `row`: the axes are orthonormal. */
function expandRow(
  row: Float32Array,
  { mean, axes }: Pick<TemplateModel, 'mean' | 'axes'>,
): Float32Array {
  return mean.map((value, index) =>
    row.reduce(
      (sum, coordinate, axis) => sum + coordinate * (axes[axis * mean.length + index] ?? 0),
      value,
    ),
  )
}
