import { z } from 'zod'

/** How the outputs of an installed network are read: the field `decoding` of a model in `pack.json`. */

export const fileNameSchema = z
  .string()
  .regex(/^[A-Za-z0-9][A-Za-z0-9._-]{0,127}$/u, 'must be a plain file name')

export const sha256Schema = z.string().regex(/^[0-9a-f]{64}$/u, 'must be 64 hexadecimal digits')

const fraction = z.number().min(0).max(1)

/**
 * Fields of every detector. The outputs become boxes, scores and five points. The image is scaled to
 * fit the input and placed at its top left.
 */
const detectorFields = {
  /** The score that maps to the confidence 0.6. Detections below it are not faces by default. */
  scoreThreshold: fraction,
  /**
   * The score that maps to the confidence 0.85. From this score on the points of the detector place
   * the mesh of a face; below it the landmark network does. The confidence is linear between (0, 0),
   * these two points and (1, 1); without this field, from the threshold to (1, 1).
   */
  certainScore: fraction.optional(),
  /**
   * The mesh must confirm each face below this score; without this field, each face. The mesh does not
   * confirm many masked faces.
   */
  confirmBelow: fraction.optional(),
  /** From this IoU on, the box with the lower score is dropped. */
  overlapMax: fraction,
  /**
   * The face box (hairline to chin, cheek to cheek) as fractions of the box of the network. Every
   * network draws its box differently; crops, the minimum face size and the reported box use the face
   * box. The default is the box of the network.
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
 * YuNet of libfacedetection. For each stride s the outputs are `cls_s`, `obj_s` (both after the
 * sigmoid), `bbox_s` and `kps_s`, with the cells row by row. The score is √(cls·obj).
 */
const yunet = z.strictObject({ kind: z.literal('yunet'), ...detectorFields })

/**
 * SCRFD of InsightFace with five points. The outputs are scores, distances, points, in this order,
 * each at the strides 8, 16, 32. Every cell has `anchorsPerCell` anchors on its corner.
 */
const scrfd = z.strictObject({
  kind: z.literal('scrfd'),
  anchorsPerCell: z.int().min(1).max(4).default(2),
  ...detectorFields,
})

/**
 * RetinaFace with prior boxes. Three outputs over all priors: boxes, probabilities (the second of two
 * is "face") and five points. Boxes and points are decoded with the variances.
 */
const retinaface = z.strictObject({
  kind: z.literal('retinaface'),
  /** Names of the outputs. */
  outputs: z.strictObject({ boxes: z.string(), scores: z.string(), points: z.string() }),
  strides: z.array(z.int().positive()).min(1).default([8, 16, 32]),
  /** Side lengths of the priors of each stride, px of the input. */
  priorSides: z.array(z.array(z.number().positive()).min(1)).min(1),
  variances: z.tuple([z.number().positive(), z.number().positive()]).default([0.1, 0.2]),
  ...detectorFields,
})

/** Templates of other people, used to measure the density of faces: see vision/embed/create-template.ts. */
const cohort = z.strictObject({
  /** `rows × dimensions` half-precision numbers, little-endian. */
  file: fileNameSchema,
  sha256: sha256Schema,
  /** The number of nearest rows that the density is the mean of. */
  neighbours: z.int().min(1).max(1000),
  /**
   * The origin of rows that represent people of many groups and ages. Without it, all rows are mixtures
   * of the calibration pictures, and the table holds only for pictures like those.
   */
  origin: z.string().min(1).optional(),
  /** How many of the first rows are mixtures of the calibration pictures; the others are of the pack. */
  mixtures: z.int().min(0).optional(),
})

/**
 * A recognizer: one vector for the 112 px crop that is aligned by the five points of ArcFace. Its
 * scores have no meaning without `cohort` and `calibration`. `facegate evaluate verification
 * --calibrate` creates both; a cohort that the pack contains becomes a part of the new one. Another
 * cohort creates other templates: it needs another `version`.
 */
const arcface = z.strictObject({
  kind: z.literal('arcface'),
  dimensions: z.int().min(16).max(4096),
  /** Whether the vector is the mean of the face and its mirror image. */
  flip: z.boolean().default(true),
  cohort: cohort.optional(),
  /** The similarity table, a JSON file. */
  calibration: fileNameSchema.optional(),
  /** The cohort and the table for its use together with the built-in recognizer. */
  withBuiltin: z.strictObject({ cohort, calibration: fileNameSchema }).optional(),
})

/** A liveness network: the probability (softmax) of the class "live" for one crop. */
const antispoof = z.strictObject({
  kind: z.literal('antispoof'),
  /**
   * `stretched`: the box times the factor, reduced and shifted until it lies inside the image, its
   * sides stretched to the input (minivision). `square`: a square about the centre of the box, its
   * side the longer side of the box times the factor, black outside the image.
   */
  crop: z.enum(['stretched', 'square']),
  cropFactor: z.number().min(0.5).max(8),
  classes: z.int().min(2).max(16),
  /** The index of the class "live", from 0. */
  liveClass: z.int().min(0).max(15),
  /** Whether the graph returns logits; otherwise it contains the softmax. */
  logits: z.boolean().default(true),
  /**
   * A face is live from `liveMin` on and a spoof below `spoofMax`; between them it is undecided. The
   * defaults are the threshold of minivision and a margin below it: see docs/liveness.md.
   */
  liveMin: fraction.default(0.5),
  spoofMax: fraction.default(0.4),
  /**
   * The minimum ratio of image size to face size, in width and in height. Below 1.5, live people are
   * rejected several times as often: see docs/liveness.md.
   */
  contextMin: z.number().min(1).max(8).default(1.5),
})

export const decodingSchema = z.discriminatedUnion('kind', [
  yunet,
  scrfd,
  retinaface,
  arcface,
  antispoof,
])

export type Decoding = z.output<typeof decodingSchema>
export type RecognizerDecoding = Extract<Decoding, { readonly kind: 'arcface' }>
export type DetectorDecoding = Extract<Decoding, { readonly boxToFace: unknown }>
export type AntiSpoofDecoding = Extract<Decoding, { readonly kind: 'antispoof' }>

type DecodedModel = { readonly id: string; readonly decoding: Decoding }

export function isRecognizerDecoding(decoding: Decoding): decoding is RecognizerDecoding {
  return decoding.kind === 'arcface'
}

/** @throws Error when the model is not a detector. */
export function requireDetectorDecoding({ id, decoding }: DecodedModel): DetectorDecoding {
  if ('boxToFace' in decoding) return decoding
  throw new Error(`${id} is not a detector`)
}

/** @throws Error when the model is not a recognizer. */
export function requireRecognizerDecoding({ id, decoding }: DecodedModel): RecognizerDecoding {
  if (isRecognizerDecoding(decoding)) return decoding
  throw new Error(`${id} is not a recognizer`)
}

/** @throws Error when the model is not a liveness network. */
export function requireAntiSpoofDecoding({ id, decoding }: DecodedModel): AntiSpoofDecoding {
  if (decoding.kind === 'antispoof') return decoding
  throw new Error(`${id} is not a liveness model: its decoding is ${decoding.kind}`)
}

/** The cohorts and the similarity tables of a recognizer; empty for other models. */
export function calibrationFilesOf(decoding: Decoding) {
  if (!isRecognizerDecoding(decoding)) return []
  const { withBuiltin } = decoding
  const uses = withBuiltin ? [decoding, withBuiltin] : [decoding]
  const files = uses.flatMap(({ cohort: rows, calibration }) => [
    ...(rows ? [{ file: rows.file, sha256: rows.sha256 }] : []),
    ...(calibration === undefined ? [] : [{ file: calibration, sha256: null }]),
  ])
  // Both can name the same cohort.
  return [...new Map(files.map((each) => [each.file, each])).values()]
}
