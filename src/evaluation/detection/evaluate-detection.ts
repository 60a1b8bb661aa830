import path from 'node:path'
import { iou, type Rect } from '../../vision/image/geometry.ts'
import type { ImageAnalysis } from '../../vision/image-analysis.ts'
import type { EncodedImage } from '../../vision/image/input/encoded-image.ts'
import { analyzeFile } from '../face-images.ts'
import { mapConcurrent } from '../map-concurrent.ts'
import { readCsv, type LabelRow } from '../read-csv.ts'

/** The labels of one image compared with the faces found. */
type DetectionRow = ReturnType<typeof compareBoxes>

export type DetectionReport = Awaited<ReturnType<typeof evaluateDetection>>

/** A found box matches a labelled one from this intersection over union. */
const iouMin = 0.3

/** One line of `labels.csv`. */
type DetectionLabels = ReturnType<typeof parseLabels>

/**
 * Reads `labels.csv` of a folder. The columns are `file`, `face_count` and, optionally, `boxes`:
 * left, top, width and height in pixels for each face, with any separators.
 *
 * @throws Error that names the line with an invalid label.
 */
export async function readDetectionLabels(folder: string): Promise<DetectionLabels[]> {
  const rows = await readCsv(path.join(folder, 'labels.csv'), ['file', 'face_count'])
  return rows.map((row) => parseLabels(row, folder))
}

/**
 * Measures detection on labelled images.
 *
 * @throws Error when no image can be analyzed.
 */
export async function evaluateDetection(
  labels: readonly DetectionLabels[],
  analyzeImage: (image: EncodedImage) => Promise<ImageAnalysis>,
  onProgress: (done: number, total: number) => void,
) {
  const detect = async (imageLabels: DetectionLabels) => {
    const analysis = await analyzeFile(imageLabels.path, analyzeImage)
    return 'unusable' in analysis
      ? { file: imageLabels.file, reason: analysis.unusable }
      : compareBoxes(imageLabels, analysis)
  }
  const results = await mapConcurrent(labels, detect, onProgress)
  const rows = results.flatMap((result) => ('reason' in result ? [] : [result]))
  const unusable = results.flatMap((result) => ('reason' in result ? [result] : []))
  if (rows.length === 0)
    throw new Error(`no image could be analyzed (${unusable[0]?.file}: ${unusable[0]?.reason})`)
  return { ...summarize(rows), unusable }
}

function parseLabels({ location, cells }: LabelRow, folder: string) {
  const { file = '', face_count: count = '', boxes = '' } = cells
  if (file === '') throw new Error(`${location}: file is empty; name an image`)
  if (!/^\d{1,5}$/u.test(count))
    throw new Error(`${location}: face_count "${count}" is not a count; write a number from 0`)
  return {
    /** The name in `labels.csv`, relative to its folder. */
    file,
    path: path.join(folder, file),
    faceCount: Number(count),
    boxes: parseBoxes(boxes, location),
  }
}

function parseBoxes(text: string, location: string): Rect[] {
  const numbers = (text.match(/-?\d+(?:\.\d+)?/gu) ?? []).map(Number)
  if (numbers.length % 4 !== 0)
    throw new Error(
      `${location}: boxes has ${numbers.length} numbers; ` +
        'write left, top, width and height for each face',
    )
  return Array.from({ length: numbers.length / 4 }, (_, index) => {
    const [x = 0, y = 0, width = 0, height = 0] = numbers.slice(4 * index, 4 * index + 4)
    return { x, y, width, height }
  })
}

function compareBoxes(
  { file, faceCount: labelled, boxes }: DetectionLabels,
  analysis: ImageAnalysis,
) {
  const found = analysis.faces.length
  const unmatched = analysis.faces.map(({ boundingBox: { left: x, top: y, ...size } }) => {
    return { x, y, ...size }
  })
  let boxesFound = 0
  for (const box of boxes) {
    const index = unmatched.findIndex((foundBox) => iou(foundBox, box) >= iouMin)
    if (index === -1) continue
    unmatched.splice(index, 1)
    boxesFound++
  }
  return {
    file,
    labelled,
    found,
    /** Labelled boxes, and the number of them that a found box matches; both 0 if only counts are labelled. */
    boxes: boxes.length,
    boxesFound,
    /** Found boxes that match no label. If only counts are labelled, the faces beyond the count. */
    falsePositives: boxes.length > 0 ? unmatched.length : Math.max(0, found - labelled),
  }
}

function summarize(rows: readonly DetectionRow[]) {
  const sum = (valueOf: (row: DetectionRow) => number): number =>
    rows.reduce((total, row) => total + valueOf(row), 0)
  const error = (row: DetectionRow): number => Math.abs(row.found - row.labelled)
  const boxes = sum((row) => row.boxes)
  return {
    /** The images that could be analyzed. The rates refer to them. */
    rows,
    pictures: rows.length,
    boxRecall: boxes > 0 ? sum((row) => row.boxesFound) / boxes : null,
    falsePositivesPerImage: sum((row) => row.falsePositives) / rows.length,
    exactCounts: rows.filter((row) => error(row) === 0).length,
    countsWithinOne: rows.filter((row) => error(row) <= 1).length,
    countMeanAbsoluteError: sum(error) / rows.length,
  }
}
