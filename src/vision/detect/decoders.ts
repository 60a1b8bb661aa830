import type { Decoding } from '../../models/decoding.ts'
import type { ImageSize, Point, Rect } from '../image/geometry.ts'
import type { ModelOutputs, ModelSession } from '../session.ts'

/** One detection of a network, in px of its input. */
export type RawDetection = {
  /** As the network returns it. */
  readonly box: Rect
  /** The score of the network, 0..1. */
  readonly score: number
  /** Left eye, right eye, nose tip, left and right corner of the mouth, as seen in the image. */
  readonly landmarkPoints: readonly Point[]
}

/**
 * Decodes the outputs of one run on an input of `size`.
 *
 * @throws Error naming the file if the outputs do not match the manifest.
 */
export type DecodeDetections = (outputs: ModelOutputs, size: ImageSize) => RawDetection[]

/** The strides of the networks whose cells predict faces by themselves, px of the input. */
const cellStrides = [8, 16, 32]

/** Candidates with a lower score are dropped. Practical thresholds are far above this score. */
const candidateScoreMin = 0.05

/**
 * Returns the named output of the network in the file `filePath`.
 *
 * @throws Error naming both if the output is missing or does not have `length` values.
 */
function readOutput(
  filePath: string,
  outputs: ModelOutputs,
  { name, length }: { readonly name: string; readonly length: number },
): Float32Array {
  const values = outputs[name]
  if (!values) throw new Error(`${filePath}: no output "${name}"`)
  if (values.length !== length)
    throw new Error(`${filePath}: the output "${name}" has ${values.length} values, not ${length}`)
  return values
}

/** Returns the grid of cells of one stride; a cell has stride × stride px of the input. */
function cellGrid({ width, height }: ImageSize, stride: number) {
  const columns = Math.ceil(width / stride)
  return { columns, cells: columns * Math.ceil(height / stride) }
}

type RetinafaceDecoding = Extract<Decoding, { kind: 'retinaface' }>

/**
 * Decodes RetinaFace (Deng et al. 2020, as biubug6's Pytorch_Retinaface exports it): three outputs
 * over all priors. A prior is a square around the centre of its cell. Box centres and points are
 * offsets from that centre, in units of the prior's side times the first variance. Box sides are
 * logarithms, in units of the second variance.
 *
 * @throws Error naming the file if the manifest has different numbers of strides and prior sides.
 */
export function retinaface(
  { filePath }: ModelSession,
  decoding: RetinafaceDecoding,
): DecodeDetections {
  const { outputs: names, variances } = decoding
  const [centreVariance, sizeVariance] = variances
  if (decoding.strides.length !== decoding.priorSides.length)
    throw new Error(
      `${filePath}: the manifest has ${decoding.strides.length} strides, ` +
        `but sides of priors for ${decoding.priorSides.length}`,
    )
  return (outputs, size) => {
    const priors = priorBoxes(size, decoding)
    const { length } = priors
    const boxes = readOutput(filePath, outputs, { name: names.boxes, length: 4 * length })
    const scores = readOutput(filePath, outputs, { name: names.scores, length: 2 * length })
    const points = readOutput(filePath, outputs, { name: names.points, length: 10 * length })
    const detections: RawDetection[] = []
    for (const [index, { x, y, side }] of priors.entries()) {
      const score = scores[2 * index + 1] ?? 0
      if (score < candidateScoreMin) continue
      const [dx = 0, dy = 0, w = 0, h = 0] = boxes.subarray(4 * index, 4 * index + 4)
      const [width, height] = [side * Math.exp(w * sizeVariance), side * Math.exp(h * sizeVariance)]
      const moveFrom = (centre: number, offset = 0) => centre + offset * centreVariance * side
      detections.push({
        score,
        box: { x: moveFrom(x, dx) - width / 2, y: moveFrom(y, dy) - height / 2, width, height },
        landmarkPoints: Array.from({ length: 5 }, (_, point) => ({
          x: moveFrom(x, points[10 * index + 2 * point]),
          y: moveFrom(y, points[10 * index + 2 * point + 1]),
        })),
      })
    }
    return detections
  }
}

/** A square of `side` around (x, y), px of the input. */
type PriorBox = { readonly x: number; readonly y: number; readonly side: number }

/** Returns the priors by stride, then row, then cell, with the sides in the order of the manifest. */
function priorBoxes(size: ImageSize, { strides, priorSides }: RetinafaceDecoding): PriorBox[] {
  return strides.flatMap((stride, level) => {
    const { columns, cells } = cellGrid(size, stride)
    return Array.from({ length: cells }, (_, cell) => ({
      x: ((cell % columns) + 0.5) * stride,
      y: (Math.floor(cell / columns) + 0.5) * stride,
    })).flatMap((centre) => (priorSides[level] ?? []).map((side) => ({ ...centre, side })))
  })
}

/**
 * Decodes InsightFace's SCRFD with five points (Guo et al. 2021). The names of the outputs are
 * numbers, so the outputs are used in the order of the graph: scores (with sigmoid applied),
 * distances, points, each at stride 8, 16 and 32. An anchor is the top left corner of its cell, not
 * the centre. Four distances from it define the box and ten offsets the points, all in cells.
 */
export function scrfd(
  { filePath, outputNames }: ModelSession,
  { anchorsPerCell }: { readonly anchorsPerCell: number },
): DecodeDetections {
  if (outputNames.length !== 3 * cellStrides.length)
    throw new Error(
      `${filePath}: ${outputNames.length} outputs, not 9: scores, distances and points ` +
        'at strides 8, 16 and 32',
    )
  return (outputs, size) =>
    cellStrides.flatMap((stride, level) => {
      const { columns, cells } = cellGrid(size, stride)
      const anchors = cells * anchorsPerCell
      const read = (part: number, perAnchor: number) => {
        const name = outputNames[part * cellStrides.length + level] ?? ''
        return readOutput(filePath, outputs, { name, length: anchors * perAnchor })
      }
      const [scores, distances, points] = [read(0, 1), read(1, 4), read(2, 10)]
      const detections: RawDetection[] = []
      for (let anchor = 0; anchor < anchors; anchor++) {
        const score = scores[anchor] ?? 0
        if (score < candidateScoreMin) continue
        const cell = Math.floor(anchor / anchorsPerCell)
        const x = (cell % columns) * stride
        const y = Math.floor(cell / columns) * stride
        const [left = 0, top = 0, right = 0, bottom = 0] = distances
          .subarray(4 * anchor, 4 * anchor + 4)
          .map((distance) => distance * stride)
        if (left + right <= 0 || top + bottom <= 0) continue
        detections.push({
          score,
          box: { x: x - left, y: y - top, width: left + right, height: top + bottom },
          landmarkPoints: Array.from({ length: 5 }, (_, index) => ({
            x: x + (points[10 * anchor + 2 * index] ?? 0) * stride,
            y: y + (points[10 * anchor + 2 * index + 1] ?? 0) * stride,
          })),
        })
      }
      return detections
    })
}

/**
 * Decodes YuNet (Wu et al. 2023, libfacedetection.train). For each stride and each cell, row by row,
 * the network returns a class score and an object score (with sigmoid applied), a box (centre and
 * logarithm of the sides, in cells) and five points (in cells).
 */
export function yunet({ filePath }: ModelSession): DecodeDetections {
  return (outputs, size) =>
    cellStrides.flatMap((stride) => {
      const { columns, cells } = cellGrid(size, stride)
      const read = (name: string, perCell: number) =>
        readOutput(filePath, outputs, { name: `${name}_${stride}`, length: cells * perCell })
      const [classes, objects] = [read('cls', 1), read('obj', 1)]
      const [boxes, points] = [read('bbox', 4), read('kps', 10)]
      const detections: RawDetection[] = []
      for (let cell = 0; cell < cells; cell++) {
        // Skips the thousands of cells without a face before anything else is computed.
        if ((classes[cell] ?? 0) * (objects[cell] ?? 0) < candidateScoreMin ** 2) continue
        const score = Math.sqrt(clampToUnit(classes[cell]) * clampToUnit(objects[cell]))
        const column = cell % columns
        const row = Math.floor(cell / columns)
        const [x = 0, y = 0, w = 0, h = 0] = boxes.subarray(4 * cell, 4 * cell + 4)
        const [width, height] = [Math.exp(w) * stride, Math.exp(h) * stride]
        detections.push({
          score,
          box: {
            x: (column + x) * stride - width / 2,
            y: (row + y) * stride - height / 2,
            width,
            height,
          },
          landmarkPoints: Array.from({ length: 5 }, (_, index) => ({
            x: (column + (points[10 * cell + 2 * index] ?? 0)) * stride,
            y: (row + (points[10 * cell + 2 * index + 1] ?? 0)) * stride,
          })),
        })
      }
      return detections
    })
}

/** Rounding can move the result of a sigmoid slightly outside 0..1. */
function clampToUnit(value = 0): number {
  return Math.min(1, Math.max(0, value))
}
