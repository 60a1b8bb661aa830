import {
  createSearchMemory,
  openSharedMemory,
} from '../../../src/gallery/search/scan/shared-memory.ts'
import {
  addLeads,
  allocateBlock,
  freeBlock,
  writeRows,
} from '../../../src/gallery/search/table/row-store.ts'
import {
  codeBytes,
  leadAxisCount,
  type LeadAxes,
} from '../../../src/gallery/search/scan/row-layout.ts'

/** A template to quantise, with the axes of its lead. */
export type RowToQuantise = {
  readonly vector: Float32Array
  readonly density: number
  readonly axes?: LeadAxes
}

export type QuantisedRow = {
  readonly codes: Int8Array
  readonly scale: number
  readonly bias: number
  readonly slack: number
  /** Omitted without axes. */
  readonly lead?: {
    readonly codes: Int8Array
    readonly scale: number
    readonly bias: number
    readonly rest: number
  }
}

const sharedMemory = openSharedMemory(createSearchMemory())

/** Quantises templates with the same dimensions and axes with the kernel, as rows of one block. */
export function quantiseWithKernel(rows: readonly RowToQuantise[]): QuantisedRow[] {
  const dimensions = rows[0]?.vector.length ?? 0
  const axes = rows[0]?.axes
  const block = allocateBlock(sharedMemory, dimensions, { first: 0, capacity: rows.length })
  if (axes) addLeads(sharedMemory, block, { axes, rowsUsed: 0 })
  const position = { block, index: 0 }
  writeRows(sharedMemory, position, {
    vectors: Float32Array.from(rows.flatMap(({ vector }) => [...vector])),
    densities: Float64Array.from(rows, ({ density }) => density),
    groupSetIds: new Uint32Array(rows.length).fill(1),
  })
  const read = (address: number, index: number, codes: number) => {
    const start = address + index * (codes + 16)
    const { buffer } = sharedMemory.memory
    const [scale = 0, bias = 0, last = 0] = new Float32Array(buffer, start + codes, 3)
    return { codes: new Int8Array(buffer, start, codes).slice(), scale, bias, last }
  }
  const quantised = rows.map((_, index): QuantisedRow => {
    const { last: slack, ...row } = read(block.offset, index, codeBytes(dimensions))
    if (!block.leads) return { ...row, slack }
    const { last: rest, ...lead } = read(block.leads.offset, index, leadAxisCount)
    return { ...row, slack, lead: { ...lead, rest } }
  })
  freeBlock(sharedMemory, block)
  return quantised
}
