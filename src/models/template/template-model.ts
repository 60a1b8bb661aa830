import { readFile } from 'node:fs/promises'
import { decodeFloat16 } from './float16.ts'
import { sha256Of } from '../convert/read-source.ts'
import manifest from './manifest.json' with { type: 'json' }

/**
 * How a template is made of the descriptors of two networks: everything that was learnt from
 * pictures beyond the networks themselves. Matrices are flat, row by row.
 */
export type TemplateModel = {
  /** "id@version", remembered by every template; raised whenever a value below changes. */
  readonly modelId: string
  /** What dlib's descriptor is multiplied with before it stands beside that of faceres. */
  readonly dlibWeight: number
  /** Mean of faceres, 1,024 values. */
  readonly centre: Float32Array
  /** Mean of the fused vectors, 1,152 values. */
  readonly mean: Float32Array
  /** Principal axes, one a row: dimensions × 1,152 values. */
  readonly axes: Float32Array
  /** Mixtures of people that stand for strangers: rows × dimensions values. */
  readonly cohort: Float32Array
  /** How many of the nearest rows of the cohort make the density. */
  readonly neighbours: number
}

/**
 * Reads the model of the built-in pack's templates.
 *
 * @throws naming the file that is missing or altered: templates made with another would not compare
 *   with those that are stored.
 */
export async function readTemplateModel(): Promise<TemplateModel> {
  const { id, version, dlibWeight, neighbours, files } = manifest
  return {
    modelId: `${id}@${version}`,
    dlibWeight,
    neighbours,
    centre: await readFloat16File('centre', files.centre),
    mean: await readFloat16File('mean', files.mean),
    axes: await readFloat16File('axes', files.axes),
    cohort: await readFloat16File('cohort', files.cohort),
  }
}

/** The folder of the manifest and its files. */
export const templateFolder = new URL('./', import.meta.url)

/** Half precision, little-endian: templates move by 3e-4 of a typical distance, accuracy not at all. */
async function readFloat16File(name: string, sha256: string): Promise<Float32Array> {
  const place = new URL(`${name}.f16`, templateFolder)
  const bytes = await readFile(place)
  if (sha256Of(bytes) !== sha256)
    throw new Error(`${place.pathname} was altered: install Facegate again`)
  return decodeFloat16(bytes)
}
