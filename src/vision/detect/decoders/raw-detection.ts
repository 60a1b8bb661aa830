import type { Rect } from '../../image/geometry.ts'
import type { ImageSize } from '../../network-input.ts'
import type { ModelOutputs } from '../../session.ts'
import type { Point } from '../../image-analysis.ts'

/** What a detector says of one place, in px of its input. */
export type RawDetection = {
  /** As the network draws it. */
  readonly box: Rect
  /** The network's own, 0..1. */
  readonly score: number
  /** Left eye, right eye, tip of the nose, left and right corner of the mouth, as seen in the image. */
  readonly landmarkPoints: readonly Point[]
}

/**
 * Reads the outputs of one run on an input of `size`.
 *
 * @throws Error naming the file when they are not what the manifest says.
 */
export type DecodeDetections = (outputs: ModelOutputs, size: ImageSize) => RawDetection[]

/** Below this nothing is a candidate: the least that a threshold can ask for, near enough. */
export const candidateScoreMin = 0.05

/**
 * The named output of the network in the file `place`.
 *
 * @throws Error naming both when it is missing or has not `length` values.
 */
export function readOutput(
  place: string,
  outputs: ModelOutputs,
  { name, length }: { readonly name: string; readonly length: number },
): Float32Array {
  const values = outputs[name]
  if (!values) throw new Error(`${place}: no output "${name}"`)
  if (values.length !== length)
    throw new Error(`${place}: the output "${name}" has ${values.length} values, not ${length}`)
  return values
}

/** The grid of cells of one stride, each px × px of the input. */
export function cellGrid(
  { width, height }: ImageSize,
  stride: number,
): { readonly columns: number; readonly cells: number } {
  const columns = Math.ceil(width / stride)
  return { columns, cells: columns * Math.ceil(height / stride) }
}
