import { readFile } from 'node:fs/promises'
import { sha256Of } from '../sha256.ts'
import { decodeFloat16 } from './float16.ts'
import manifest from './manifest.json' with { type: 'json' }

/**
 * The fitted values that turn the embeddings of two networks into one template: everything that was
 * learned from images beyond the networks themselves. Matrices are flat, row by row.
 */
export type TemplateModel = Awaited<ReturnType<typeof readFiles>>

/** The model that this process has read. A start needs it in several places. */
let readModel: Promise<TemplateModel> | undefined

/**
 * Reads the template model of the built-in pack, once for the process.
 *
 * @throws Error that names the missing or altered file. With another file, new templates would not
 *   match the stored ones.
 */
export function readTemplateModel(): Promise<TemplateModel> {
  readModel ??= readFiles()
  return readModel
}

async function readFiles() {
  const { id, version, dlibWeight, neighbours, files } = manifest
  return {
    /** "id@version". Every template stores it; it is raised when a value below changes. */
    modelId: `${id}@${version}`,
    /** Factor of the embedding of dlib before it is concatenated with the embedding of faceres. */
    dlibWeight,
    /** The number of nearest cohort rows that the density is the mean of. */
    neighbours,
    /** Mean of the faceres embedding, 1,024 values. */
    centre: await readFloat16File('centre', files.centre),
    /** Mean of the concatenated vectors, 1,152 values. */
    mean: await readFloat16File('mean', files.mean),
    /** Principal axes, one per row: dimensions × 1,152 values. */
    axes: await readFloat16File('axes', files.axes),
    /** Mixtures of people that represent other people: rows × dimensions values. */
    cohort: await readFloat16File('cohort', files.cohort),
  }
}

/** Returns the id of the template model, and the SHA-256 of each of its files. */
export function templateModelFiles() {
  const { id, version, files } = manifest
  return { modelId: `${id}@${version}`, sha256: files }
}

/** The folder of the manifest and its files. */
export const templateFolder = new URL('./', import.meta.url)

/**
 * Reads half-precision numbers, little-endian. Half precision moves a template by 3e-4 of a typical
 * distance and does not change the accuracy.
 */
async function readFloat16File(name: string, sha256: string): Promise<Float32Array> {
  const fileUrl = new URL(`${name}.f16`, templateFolder)
  const bytes = await readFile(fileUrl)
  if (sha256Of(bytes) !== sha256)
    throw new Error(`${fileUrl.pathname} was altered: install Facegate again`)
  return decodeFloat16(bytes)
}
