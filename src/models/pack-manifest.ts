import { z } from 'zod'

/**
 * The manifest of an installed pack, `pack.json`: networks that a user brings, as plain data. No
 * network needs a line of code of its own as long as one of the kinds of `decoding` fits it.
 */

const name = z.string().regex(/^[a-z0-9][a-z0-9._-]{0,63}$/u, 'must be 1..64 of a-z 0-9 . _ -')

const fileName = z
  .string()
  .regex(/^[A-Za-z0-9][A-Za-z0-9._-]{0,127}$/u, 'must be a plain file name')

const sha256 = z.string().regex(/^[0-9a-f]{64}$/u, 'must be 64 hexadecimal digits')

/** One float32 tensor `[N, 3, height, width]` of `(pixel − mean[channel]) × scale`. */
const input = z.strictObject({
  /** Name of the graph's input; null: its only one. */
  name: z.string().nullable().default(null),
  /** px; of a detector that takes any size the size that it is used at, a multiple of 32. */
  width: z.int().min(16).max(2048),
  height: z.int().min(16).max(2048),
  colourOrder: z.enum(['RGB', 'BGR']),
  /** One per channel, in the colour order above; pixels are 0..255. */
  mean: z.tuple([z.number(), z.number(), z.number()]).default([0, 0, 0]),
  scale: z.number().positive().default(1),
})

const fraction = z.number().min(0).max(1)

/** A detector's answers become boxes, scores and five points; the frame is letterboxed top left. */
const detectorFields = {
  /** What of the score becomes the confidence 0.6: below it nothing is a face by default. */
  scoreThreshold: fraction,
  /**
   * What of the score becomes the confidence 0.85: from there on a place is a face without a
   * further look, below it the mesh has to confirm it. Between these points and (0, 0) and (1, 1)
   * the confidence is linear; without it, from the threshold to (1, 1).
   */
  certainScore: fraction.optional(),
  /** IoU from which the weaker of two boxes is dropped. */
  overlapMax: fraction,
  /**
   * Where the face lies, from the hairline to the chin and from cheek to cheek, in shares of the
   * network's own box: crops, the least size and what is reported go by the box of the face, and
   * every network draws another. As it comes, if nothing is said.
   */
  boxToFace: z
    .strictObject({
      left: z.number().min(-1).max(1),
      top: z.number().min(-1).max(1),
      width: z.number().min(0.25).max(4),
      height: z.number().min(0.25).max(4),
    })
    .default({ left: 0, top: 0, width: 1, height: 1 }),
}

/**
 * libfacedetection's YuNet: for each stride s the outputs `cls_s`, `obj_s` (sigmoid inside),
 * `bbox_s` and `kps_s`, cells row by row; score √(cls·obj).
 */
const yunet = z.strictObject({ kind: z.literal('yunet'), ...detectorFields })

/**
 * InsightFace's SCRFD with five points: outputs in the order scores, distances, points, each at
 * stride 8, 16, 32; `anchorsPerCell` anchors on the corner of each cell.
 */
const scrfd = z.strictObject({
  kind: z.literal('scrfd'),
  anchorsPerCell: z.int().min(1).max(4).default(2),
  ...detectorFields,
})

/**
 * RetinaFace with prior boxes: three outputs over all priors, boxes, probabilities (the second of
 * two is "face"), five points; decoded with the variances.
 */
const retinaface = z.strictObject({
  kind: z.literal('retinaface'),
  /** Names of the outputs. */
  outputs: z.strictObject({ boxes: z.string(), scores: z.string(), points: z.string() }),
  strides: z.array(z.int().positive()).min(1).default([8, 16, 32]),
  /** Sides of the priors of each stride, px of the input. */
  priorSides: z.array(z.array(z.number().positive()).min(1)).min(1),
  variances: z.tuple([z.number().positive(), z.number().positive()]).default([0.1, 0.2]),
  ...detectorFields,
})

/** Strangers to measure the density of faces against: see vision/template.ts. */
const cohort = z.strictObject({
  /** `rows × dimensions` numbers of half precision, little-endian. */
  file: fileName,
  sha256,
  /** How many of the nearest rows make the density. */
  neighbours: z.int().min(1).max(1000),
})

/**
 * A face as a vector, from the 112 px chip of ArcFace's five points. Without `cohort` and
 * `calibration` its scores mean nothing yet: `facegate evaluate verification --calibrate` makes
 * both. Another cohort makes other templates: it needs another `version`.
 */
const arcface = z.strictObject({
  kind: z.literal('arcface'),
  dimensions: z.int().min(16).max(4096),
  /** Whether the mean over the face and its mirror image is taken. */
  flip: z.boolean().default(true),
  cohort: cohort.optional(),
  /** The table of similarities, JSON. */
  calibration: fileName.optional(),
})

/** The share of "live" among the classes (softmax) of one crop. */
const antispoof = z.strictObject({
  kind: z.literal('antispoof'),
  /**
   * `stretched`: the box times the factor, shrunk and shifted until it lies in the picture, its
   * sides stretched to the input's (minivision). `square`: a square of the longer side times the
   * factor about the box's centre, black beyond the picture.
   */
  crop: z.enum(['stretched', 'square']),
  cropFactor: z.number().min(0.5).max(8),
  classes: z.int().min(2).max(16),
  /** Which class is "live", counted from 0. */
  liveClass: z.int().min(0).max(15),
  /** Whether the graph ends with logits; else it has its own softmax. */
  logits: z.boolean().default(true),
  /**
   * From this share on a face is live, and below the other it is not; nothing is known between.
   * The defaults are minivision's threshold and a margin below it: see docs/liveness.md.
   */
  liveMin: fraction.default(0.5),
  spoofMax: fraction.default(0.4),
  /**
   * How many times the face the picture must be wide and high: below 1.5 live people are turned
   * away several times as often, see docs/liveness.md.
   */
  contextMin: z.number().min(1).max(8).default(1.5),
})

const decoding = z.discriminatedUnion('kind', [yunet, scrfd, retinaface, arcface, antispoof])

const licence = z.strictObject({
  /** As its source says: "Apache-2.0", or the words themselves. */
  name: z.string().min(1),
  commercialUse: z.enum(['allowed', 'forbidden', 'unclear']),
  /** What a buyer should know: where it is stated, what is doubtful. */
  note: z.string().optional(),
})

/** Where the file comes from; without it, it lies in the pack's folder. */
const source = z.strictObject({
  /** An address, best of one commit; or the name of a file that lies beside the manifest. */
  url: z.union([z.url({ protocol: /^https?$/u }), fileName]),
  /** Of the file at that address; null where it is not known: then the first installation pins it. */
  sha256: sha256.nullable(),
  /** Of the file at that address; null where it is not known. */
  bytes: z.int().positive().nullable().default(null),
  /** `pytorch`: a file of weights, read as data and made into the architecture's ONNX graph. */
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
  /** On which data. */
  on: z.string(),
  value: z.string(),
  /** The command that measures it, or whose figure it is. */
  how: z.string().default('quoted'),
})

const packModel = z.strictObject({
  id: name,
  /** Raised whenever the bytes of the file change: templates remember `id@version`. */
  version: name,
  role: z.enum(['detector', 'recognizer', 'liveness']),
  /** The ONNX file, in the folder of the pack. */
  file: fileName,
  /** Of that file; null where it is not known before the first installation. */
  sha256: sha256.nullable().default(null),
  source: source.optional(),
  licence,
  provenance: z.strictObject({ origin: z.string(), trainingData: z.string() }),
  input,
  decoding,
  /** What was measured, for the model cards. */
  measured: z.array(measurement).default([]),
  /** What it must not be used for, for the model cards. */
  notFor: z.string().optional(),
})

export const packManifest = z.strictObject({
  schema: z.literal(1),
  /** `builtin` is taken. */
  name: name.refine((given) => given !== 'builtin', 'must not be builtin'),
  description: z.string(),
  models: z
    .array(packModel)
    .min(1)
    .max(16)
    .refine((models) => isDistinct(models.map(({ id }) => id)), 'two models have the same id')
    .refine(
      (models) => isDistinct(['pack.json', ...models.flatMap(modelFilesOf)]),
      'two files have the same name, or that of the manifest',
    ),
})

function isDistinct(names: readonly string[]): boolean {
  return new Set(names).size === names.length
}

export type PackManifest = z.output<typeof packManifest>
/** A manifest as it is written: what has a default may be missing. */
export type PackManifestInput = z.input<typeof packManifest>
export type PackModel = z.output<typeof packModel>
export type Measurement = z.output<typeof measurement>
export type Decoding = PackModel['decoding']

/** Every file of a model, in the folder of its pack: the network first. */
export function modelFilesOf({ file, decoding: how }: PackModel): string[] {
  const made = how.kind === 'arcface' ? [how.cohort?.file, how.calibration] : []
  return [file, ...made.filter((name) => name !== undefined)]
}

/** A model of an installed pack and the folder that its file lies in. Plain data. */
export type InstalledModel = { readonly folder: string; readonly model: PackModel }

/**
 * What the service looks with: for each role the built-in models, or installed ones in their place.
 * Several liveness networks are asked together and their answers averaged.
 */
export type ModelSet = {
  readonly detector: 'builtin' | InstalledModel
  readonly recognizer: 'builtin' | InstalledModel
  readonly liveness: 'builtin' | readonly [InstalledModel, ...InstalledModel[]]
  /** Recognizers of old templates, kept beside the active one until nobody needs them. */
  readonly formerRecognizers: readonly ('builtin' | InstalledModel)[]
}

export const builtinSet: ModelSet = {
  detector: 'builtin',
  recognizer: 'builtin',
  liveness: 'builtin',
  formerRecognizers: [],
}
