import type { ModelSession } from '../../session.ts'
import { cellGrid, readOutput, candidateScoreMin } from './raw-detection.ts'
import type { DecodeDetections, RawDetection } from './raw-detection.ts'

/**
 * Decodes YuNet (Wu et al. 2023, libfacedetection.train). For each stride and each cell, row by row,
 * the network returns a class score and an object score (with sigmoid applied), a box (centre and
 * logarithm of the sides, in cells) and five points (in cells).
 */
export function yunet({ filePath }: ModelSession): DecodeDetections {
  return (outputs, size) =>
    strides.flatMap((stride) => {
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

const strides = [8, 16, 32]

/** Rounding can move the result of a sigmoid slightly outside 0..1. */
function clampToUnit(value = 0): number {
  return Math.min(1, Math.max(0, value))
}
