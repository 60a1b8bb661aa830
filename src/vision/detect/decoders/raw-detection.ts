import type { ImageSize, Point, Rect } from '../../image/geometry.ts'
import type { ModelOutputs } from '../../session.ts'

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

/** Candidates with a lower score are dropped. Practical thresholds are far above this score. */
export const candidateScoreMin = 0.05

/**
 * Returns the named output of the network in the file `filePath`.
 *
 * @throws Error naming both if the output is missing or does not have `length` values.
 */
export function readOutput(
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
export function cellGrid(
  { width, height }: ImageSize,
  stride: number,
): { readonly columns: number; readonly cells: number } {
  const columns = Math.ceil(width / stride)
  return { columns, cells: columns * Math.ceil(height / stride) }
}
