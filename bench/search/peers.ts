import { createRequire } from 'node:module'
import { correctedScore } from '../../src/gallery/calibration/similarity.ts'
import {
  createTemplateSource,
  dimensions,
  type TemplateVector,
  type TemplateMatrix,
} from './random-templates.ts'

/** Returns the row most similar to a face. Synchronous, like all peers. */
export type FindNearest = (face: TemplateVector) => number

export const peerNames = [
  'plain JavaScript loop',
  'usearch exact f32',
  'usearch exact int8, re-ranked',
  'usearch HNSW f32',
] as const
export type PeerName = (typeof peerNames)[number]

/** The part of usearch that is used. */
type Usearch = {
  readonly exactSearch: (...query: unknown[]) => { readonly keys: BigUint64Array }
  readonly Index: new (config: object) => {
    add: (keys: BigUint64Array, vectors: Float32Array, threads: number) => void
    search: (vector: Float32Array, count: number, threads: number) => { keys: BigUint64Array }
  }
}

const rerankedRows = 64
/** Rows added to HNSW between two progress lines. */
const batchRows = 10_000
const threads = 2

/** @throws Error with code MODULE_NOT_FOUND if usearch is not installed. */
export function openPeer(
  name: PeerName,
  faces: TemplateMatrix,
  report: (text: string) => void,
): FindNearest {
  if (name === 'plain JavaScript loop') return (face) => findBestRow(allRows(faces), faces, face)
  const usearch = requireUsearch()
  const space = openSpace(faces)
  if (name === 'usearch HNSW f32') return openHnsw(usearch, space, report)
  if (name === 'usearch exact f32') {
    const rows = space.rows()
    return (face) =>
      firstRow(usearch.exactSearch(rows, space.point(face), ...exactSearchOptions(1)))
  }
  const rows = space.codes(space.rows())
  return (face) => {
    const probe = space.codes(space.point(face))
    const { keys } = usearch.exactSearch(rows, probe, ...exactSearchOptions(rerankedRows))
    return findBestRow(Array.from(keys, Number), faces, face)
  }
}

/** usearch is installed beside the other benchmark peers. */
function requireUsearch(): Usearch {
  return createRequire(new URL('../peers/', import.meta.url))('usearch') as Usearch
}

/** Below every density of the faces. */
const densityMin = -4

/** Opens the exact float32 search of usearch over faces that exist only in its form. */
export function openStreamedPeer(count: number, report: (text: string) => void): FindNearest {
  const usearch = requireUsearch()
  const width = dimensions + 1
  const rows = new Float32Array(count * width)
  const next = createTemplateSource()
  for (let row = 0; row < count; row++) {
    if (row % 500_000 === 0) report(`creating ${row} of ${count}`)
    const { vector, density } = next()
    rows.set(vector, row * width)
    rows[row * width + dimensions] = Math.sqrt((density - densityMin) / 2)
  }
  return ({ vector }) => {
    const point = new Float32Array(width)
    point.set(vector)
    return firstRow(usearch.exactSearch(rows, point, ...exactSearchOptions(1)))
  }
}

const exactSearchOptions = (count: number) => [dimensions + 1, count, 'l2sq', threads] as const
const firstRow = ({ keys }: { readonly keys: BigUint64Array }): number => Number(keys[0] ?? -1n)

/**
 * Converts the corrected score to a plain distance for searches without densities: one more axis, with
 * the value √(½r(b) − min ½r) for a row and 0 for every probe.
 */
function openSpace({ vectors, densities }: TemplateMatrix) {
  const width = dimensions + 1
  const lowest = densities.reduce((a, b) => Math.min(a, b), 0)
  let largest = 0
  for (const value of vectors) largest = Math.max(largest, Math.abs(value))
  for (const density of densities) largest = Math.max(largest, Math.sqrt((density - lowest) / 2))
  return {
    rows: (): Float32Array => {
      const rows = new Float32Array(densities.length * width)
      for (let row = 0; row < densities.length; row++) {
        rows.set(vectors.subarray(row * dimensions, (row + 1) * dimensions), row * width)
        rows[row * width + dimensions] = Math.sqrt(((densities[row] ?? 0) - lowest) / 2)
      }
      return rows
    },
    /** Copies the probe, because usearch reads the buffer of a view from its start. */
    point: ({ vector }: { readonly vector: Float32Array }): Float32Array => {
      const point = new Float32Array(width)
      point.set(vector)
      return point
    },
    codes: (points: Float32Array): Int8Array => {
      const codes = new Int8Array(points.length)
      for (let index = 0; index < points.length; index++)
        codes[index] = Math.max(
          -127,
          Math.min(127, Math.round(((points[index] ?? 0) / largest) * 127)),
        )
      return codes
    },
  }
}

function openHnsw(
  usearch: Usearch,
  space: ReturnType<typeof openSpace>,
  report: (text: string) => void,
): FindNearest {
  const width = dimensions + 1
  const rows = space.rows()
  const count = rows.length / width
  const index = new usearch.Index({
    dimensions: width,
    metric: 'l2sq',
    quantization: 'f32',
    connectivity: 16,
    expansion_add: 128,
    expansion_search: 128,
    multi: false,
  })
  for (let from = 0; from < count; from += batchRows) {
    report(`building HNSW: ${from} of ${count}`)
    const to = Math.min(count, from + batchRows)
    const keys = BigUint64Array.from({ length: to - from }, (_, offset) => BigInt(from + offset))
    index.add(keys, rows.slice(from * width, to * width), threads)
  }
  return (face) => firstRow(index.search(space.point(face), 1, threads))
}

function* allRows({ densities }: TemplateMatrix): Generator<number> {
  for (let row = 0; row < densities.length; row++) yield row
}

function findBestRow(rows: Iterable<number>, faces: TemplateMatrix, face: TemplateVector): number {
  let best = -1
  let bestScore = Number.NEGATIVE_INFINITY
  const { vectors, densities } = faces
  for (const row of rows) {
    const vector = vectors.subarray(row * dimensions, (row + 1) * dimensions)
    const score = correctedScore(face, { vector, density: densities[row] ?? 0 })
    if (score <= bestScore) continue
    bestScore = score
    best = row
  }
  return best
}
