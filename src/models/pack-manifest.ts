import { z } from 'zod'
import { calibrationFilesOf, decodingSchema, fileNameSchema, sha256Schema } from './decoding.ts'

/**
 * The manifest of an installed pack, `pack.json`. It describes the networks of a user as plain data. A
 * network needs no code when one of the kinds of `decoding` fits it.
 */

const name = z.string().regex(/^[a-z0-9][a-z0-9._-]{0,63}$/u, 'must be 1..64 of a-z 0-9 . _ -')

/** One float32 tensor `[N, 3, height, width]` of `(pixel − mean[channel]) × scale`. */
const input = z.strictObject({
  /** Name of the input in the graph; null: the only input. */
  name: z.string().nullable().default(null),
  /** px. For a detector that accepts every size: the size to use, a multiple of 32. */
  width: z.int().min(16).max(2048),
  height: z.int().min(16).max(2048),
  colourOrder: z.enum(['RGB', 'BGR']),
  /** One value for each channel, in the colour order above. Pixels are 0..255. */
  mean: z.tuple([z.number(), z.number(), z.number()]).default([0, 0, 0]),
  scale: z.number().positive().default(1),
})

const licence = z.strictObject({
  /** As the source states it: "Apache-2.0", or the words of the source. */
  name: z.string().min(1),
  commercialUse: z.enum(['allowed', 'forbidden', 'unclear']),
  /** Information for a buyer: where the license is stated, what is doubtful. */
  note: z.string().optional(),
})

/** The download of the file; without it the file is in the folder of the pack. */
const source = z.strictObject({
  /** A URL, preferably of one commit; or the name of a file beside the manifest. */
  url: z.union([z.url({ protocol: /^https?$/u }), fileNameSchema]),
  /** Checksum of the downloaded file; null when unknown: the first installation pins it. */
  sha256: sha256Schema.nullable(),
  /** Size of the downloaded file; null when unknown. */
  bytes: z.int().positive().nullable().default(null),
  /** `pytorch`: a file of weights, read as data and converted to the ONNX graph of the architecture. */
  format: z.discriminatedUnion('kind', [
    z.strictObject({ kind: z.literal('onnx') }),
    z.strictObject({
      kind: z.literal('pytorch'),
      architecture: z.enum(['MiniFASNetV2', 'MiniFASNetV1SE']),
    }),
  ]),
})

const measurement = z.strictObject({
  what: z.string(),
  /** The data set. */
  on: z.string(),
  value: z.string(),
  /** The command that measures it, or the origin of the figure. */
  how: z.string().default('quoted'),
})

const packModel = z.strictObject({
  id: name,
  /** Must be raised when the file, `input` or `decoding` change: templates store `id@version`. */
  version: name,
  role: z.enum(['detector', 'recognizer', 'liveness']),
  /** The ONNX file, in the folder of the pack. */
  file: fileNameSchema,
  /** Checksum of the ONNX file; null when unknown before the first installation. */
  sha256: sha256Schema.nullable().default(null),
  source: source.optional(),
  licence,
  provenance: z.strictObject({ origin: z.string(), trainingData: z.string() }),
  input,
  decoding: decodingSchema,
  /** Measurements for the model cards. */
  measured: z.array(measurement).default([]),
  /** Uses to avoid, for the model cards. */
  notFor: z.string().optional(),
})

export const packManifest = z.strictObject({
  schema: z.literal(1),
  /** `builtin` is reserved. */
  name: name.refine((text) => text !== 'builtin', 'must not be builtin'),
  description: z.string(),
  models: z
    .array(packModel)
    .min(1)
    .max(16)
    .refine((models) => isDistinct(models.map(({ id }) => id)), 'two models have the same id')
    .refine(
      (models) => isDistinct(['pack.json', ...models.flatMap(modelFilesOf)]),
      'two files have the same name, or the name of the manifest',
    ),
})

function isDistinct(names: readonly string[]): boolean {
  return new Set(names).size === names.length
}

export type PackManifest = z.output<typeof packManifest>
/** A manifest before validation: fields with a default may be missing. */
export type PackManifestInput = z.input<typeof packManifest>
export type PackModel = z.output<typeof packModel>
export type Measurement = z.output<typeof measurement>

/** All files of a model in the folder of its pack; the network is the first. */
export function modelFilesOf({ file, decoding }: PackModel): string[] {
  return [file, ...calibrationFilesOf(decoding).map((calibrationFile) => calibrationFile.file)]
}
