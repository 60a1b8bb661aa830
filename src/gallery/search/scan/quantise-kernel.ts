import { readFileSync } from 'node:fs'
import { codeBytes, leadAxisCount, leadBytes, rowBytes, type LeadAxes } from './row-layout.ts'

/** Writes the codes and the metadata of rows and of their leads into the shared memory. */
export type QuantiseRows = (rows: RowsToQuantise) => void

export type RowsToQuantise = {
  readonly dimensions: number
  /** The vectors of successive rows, one after another. */
  readonly vectors: Float32Array
  readonly densities: Float64Array
  /** Address of the first row. Its group set id and those of the others are written already. */
  readonly address: number
  /** Omitted if the rows have no leads. */
  readonly leads: { readonly axes: LeadAxes; readonly address: number } | undefined
}

/** The layout of the scratch area, as `quantise.wat` reads it. */
const densitiesOffset = leadAxisCount * (2 + 4)
const rowsMax = 64
const vectorsOffset = densitiesOffset + rowsMax * 8
/** 64 rows of 256 values remain in the cache of a core. */
const scratchValues = 16_384
export const scratchBytes = vectorsOffset + scratchValues * 4

/** @param scratch address of a zeroed scratch area, a multiple of 16. It is zero again after each call. */
export function openQuantiseKernel(memory: WebAssembly.Memory, scratch: number): QuantiseRows {
  const module = new WebAssembly.Module(readFileSync(new URL('quantise.wasm', import.meta.url)))
  const { exports } = new WebAssembly.Instance(module, { search: { memory } })
  const quantise = exports['quantiseRows'] as (...numbers: readonly number[]) => void
  const { buffer } = memory
  const axes = new Uint16Array(buffer, scratch, leadAxisCount)
  const leadValues = new Float32Array(buffer, scratch + leadAxisCount * 2, leadAxisCount)
  const densities = new Float64Array(buffer, scratch + densitiesOffset, rowsMax)
  const vectors = new Float32Array(buffer, scratch + vectorsOffset, scratchValues)

  const copyVectors = (rows: Float32Array, dimensions: number): void => {
    const length = codeBytes(dimensions)
    if (length === dimensions) return vectors.set(rows)
    for (let from = 0, to = 0; from < rows.length; from += dimensions, to += length)
      vectors.set(rows.subarray(from, from + dimensions), to)
  }
  return ({ dimensions, address, leads, ...rows }) => {
    if (leads) axes.set(leads.axes)
    const codes = codeBytes(dimensions)
    const step = Math.min(rowsMax, Math.floor(scratchValues / codes))
    const count = rows.densities.length
    for (let from = 0; from < count; from += step) {
      const to = Math.min(count, from + step)
      densities.set(rows.densities.subarray(from, to))
      copyVectors(rows.vectors.subarray(from * dimensions, to * dimensions), dimensions)
      const row = address + from * rowBytes(dimensions)
      quantise(scratch, to - from, codes, row, leads ? leads.address + from * leadBytes : 0)
    }
    const used = Math.min(count, step)
    vectors.fill(0, 0, used * codes)
    densities.fill(0, 0, used)
    leadValues.fill(0)
    axes.fill(0)
  }
}
