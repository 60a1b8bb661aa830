import type { ModelSession } from '../../session.ts'
import { cellGrid, readOutput, candidateScoreMin } from './raw-detection.ts'
import type { DecodeDetections, RawDetection } from './raw-detection.ts'

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
  if (outputNames.length !== 3 * strides.length)
    throw new Error(
      `${filePath}: ${outputNames.length} outputs, not 9: scores, distances and points ` +
        'at strides 8, 16 and 32',
    )
  return (outputs, size) =>
    strides.flatMap((stride, level) => {
      const { columns, cells } = cellGrid(size, stride)
      const anchors = cells * anchorsPerCell
      const read = (part: number, perAnchor: number) => {
        const name = outputNames[part * strides.length + level] ?? ''
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

const strides = [8, 16, 32]
