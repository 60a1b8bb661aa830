import path from 'node:path'
import { iou, type Rect } from '../../vision/image/geometry.ts'
import type { ImageAnalysis } from '../../vision/image-analysis.ts'
import type { BoundingBox } from '../../vision/image/geometry.ts'
import type { EncodedImage } from '../../vision/image/input/encoded-image.ts'
import { readImage } from '../read-image.ts'
import { readLabels } from '../read-labels.ts'

/** The labels of one image compared with the faces found. */
export type DetectionRow = {
  readonly file: string
  readonly labelled: number
  readonly found: number
  /** Labelled boxes, and the number of them that a found box matches; both 0 if only counts are labelled. */
  readonly boxes: number
  readonly boxesFound: number
  /** Found boxes that match no label. If only counts are labelled, the faces beyond the count. */
  readonly falsePositives: number
}

export type DetectionReport = {
  readonly rows: readonly DetectionRow[]
  readonly pictures: number
  readonly boxRecall: number | null
  readonly falsePositivesPerImage: number
  readonly exactCounts: number
  readonly countsWithinOne: number
  readonly countMeanAbsoluteError: number
}

/** A found box matches a labelled one from this intersection over union. */
const iouMin = 0.3

export type ImageAnalyzer = (image: EncodedImage) => Promise<ImageAnalysis>

/**
 * Measures detection on a folder with `labels.csv`. The columns are `file`, `face_count` and,
 * optionally, `boxes`: left, top, width and height in pixels for each face, with any separators.
 */
export async function evaluateDetection(
  folder: string,
  analyzeImage: ImageAnalyzer,
  onProgress: (done: number, total: number) => void,
): Promise<DetectionReport> {
  const labels = await readLabels(folder, ['file', 'face_count'])
  let done = 0
  const rows = await Promise.all(
    labels.map(async ({ file = '', face_count: count = '', boxes = '' }) => {
      const analysis = await analyzeImage(await readImage(path.join(folder, file)))
      onProgress(++done, labels.length)
      return compareBoxes(file, Number(count), parseBoxes(boxes), analysis)
    }),
  )
  return summarize(rows)
}

function parseBoxes(text: string): Rect[] {
  const numbers = (text.match(/-?\d+(?:\.\d+)?/gu) ?? []).map(Number)
  return Array.from({ length: Math.floor(numbers.length / 4) }, (_, index) => {
    const [x = 0, y = 0, width = 0, height = 0] = numbers.slice(4 * index, 4 * index + 4)
    return { x, y, width, height }
  })
}

function rectOf({ left, top, width, height }: BoundingBox): Rect {
  return { x: left, y: top, width, height }
}

function compareBoxes(
  file: string,
  labelled: number,
  boxes: readonly Rect[],
  analysis: ImageAnalysis,
): DetectionRow {
  const found = analysis.faces.length
  const unmatched = analysis.faces.map(({ boundingBox }) => rectOf(boundingBox))
  let boxesFound = 0
  for (const box of boxes) {
    const index = unmatched.findIndex((foundBox) => iou(foundBox, box) >= iouMin)
    if (index === -1) continue
    unmatched.splice(index, 1)
    boxesFound++
  }
  const falsePositives = boxes.length > 0 ? unmatched.length : Math.max(0, found - labelled)
  return { file, labelled, found, boxes: boxes.length, boxesFound, falsePositives }
}

function summarize(rows: readonly DetectionRow[]): DetectionReport {
  const sum = (valueOf: (row: DetectionRow) => number): number =>
    rows.reduce((total, row) => total + valueOf(row), 0)
  const error = (row: DetectionRow): number => Math.abs(row.found - row.labelled)
  const boxes = sum((row) => row.boxes)
  return {
    rows,
    pictures: rows.length,
    boxRecall: boxes > 0 ? sum((row) => row.boxesFound) / boxes : null,
    falsePositivesPerImage: sum((row) => row.falsePositives) / rows.length,
    exactCounts: rows.filter((row) => error(row) === 0).length,
    countsWithinOne: rows.filter((row) => error(row) <= 1).length,
    countMeanAbsoluteError: sum(error) / rows.length,
  }
}
