import { readFileSync } from 'node:fs'
import type { GalleryTemplates } from '../read-templates.ts'

/** Scores templates by their indexes as the service does: −|a−b|² − ½(density + density), in float32. */
export type TemplateScorer = ReturnType<typeof createTemplateScorer>

/** The templates that are scored. */
export type ScoredTemplates = Pick<GalleryTemplates, 'vectors' | 'densities' | 'dimensions'>

/** Addresses of two rows, the number of rows from the second on, the size of a row, and the results. */
type DotProducts = (
  ...addresses: readonly [a: number, b: number, count: number, rowBytes: number, out: number]
) => void

const pageBytes = 65_536
/** The kernel reads eight values at once; rows are padded with zeros. */
const valuesAtOnce = 8

/** Copies the vectors to the memory of a SIMD kernel. */
export function createTemplateScorer(templates: ScoredTemplates) {
  const { vectors, densities, dimensions } = templates
  const count = densities.length
  const rowValues = Math.ceil(dimensions / valuesAtOnce) * valuesAtOnce
  const rowBytes = rowValues * 4
  const outAt = count * rowBytes
  // The kernel declares at least one page.
  const pages = Math.max(1, Math.ceil((outAt + count * 4 + rowBytes) / pageBytes))
  const memory = new WebAssembly.Memory({ initial: pages, maximum: pages, shared: true })
  const rows = new Float32Array(memory.buffer, 0, count * rowValues)
  for (let row = 0; row < count; row++)
    rows.set(vectors.subarray(row * dimensions, (row + 1) * dimensions), row * rowValues)
  const out = new Float32Array(memory.buffer, outAt, count)
  const dotProducts = openDotKernel(memory)
  // −|a−b|² = 2ab − |a|² − |b|²; a density belongs to one template, too.
  const offsets = Float64Array.from(densities, (density, row) => {
    dotProducts(row * rowBytes, row * rowBytes, 1, rowBytes, outAt)
    return (out[0] ?? 0) + density / 2
  })
  return {
    score: (a: number, b: number): number => {
      dotProducts(a * rowBytes, b * rowBytes, 1, rowBytes, outAt)
      return Math.fround(2 * (out[0] ?? 0) - (offsets[a] ?? 0) - (offsets[b] ?? 0))
    },
    /**
     * Scores a template with the first templates, by default all before it. The next call
     * overwrites the result.
     */
    scoresBefore: (a: number, count: number = a): Float32Array => {
      dotProducts(a * rowBytes, 0, count, rowBytes, outAt)
      const offset = offsets[a] ?? 0
      for (let b = 0; b < count; b++) out[b] = 2 * (out[b] ?? 0) - offset - (offsets[b] ?? 0)
      return out
    },
  }
}

function openDotKernel(memory: WebAssembly.Memory): DotProducts {
  const module = new WebAssembly.Module(readFileSync(new URL('dot.wasm', import.meta.url)))
  const { exports } = new WebAssembly.Instance(module, { dot: { memory } })
  // The export of dot.wat.
  return exports['dotProducts'] as DotProducts
}
