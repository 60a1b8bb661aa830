import assert from 'node:assert/strict'
import { openQuantiseKernel, scratchBytes } from './quantise-kernel.ts'
import { jobBytes, jobOffset } from './scan-job.ts'

/** Size of a WebAssembly page. */
const pageBytes = 65_536
/** 4 GiB: 15 million rows of 256 dimensions without leads. This reserves addresses, not memory. */
const pagesMax = 65_536
/**
 * Above this, new rows get no leads: the last 400 MiB hold 1.5 million rows of 256 dimensions. With
 * their leads, 10.5 million fit below.
 */
export const leadsBytesMax = 3_700 * 2 ** 20
/** The memory grows by this many pages, or more if needed. */
const growPagesMin = 64
const alignment = 16

/**
 * An allocator for the memory that the scan reads. All galleries share one memory: separate ones
 * would reserve gigabytes of addresses per gallery and a new kernel instance for each.
 */
export type SharedMemory = ReturnType<typeof openSharedMemory>

/** Shared, so that all threads scan the same rows. */
export function createSearchMemory(): WebAssembly.Memory {
  return new WebAssembly.Memory({ initial: 1, maximum: pagesMax, shared: true })
}

export function openSharedMemory(memory: WebAssembly.Memory) {
  const freeBySize = new Map<number, number[]>()
  const scratch = jobOffset + jobBytes
  let end = scratch + scratchBytes
  growTo(memory, end)
  let bytesUsed = 0
  const append = (size: number): number => {
    const offset = end
    growTo(memory, offset + size)
    end = offset + size
    return offset
  }
  return {
    memory,
    /** Returns the offset of `bytes` zero bytes, a multiple of 16. @throws Error if memory is full. */
    allocate: (bytes: number): number => {
      const size = roundUpToAlignment(bytes)
      const offset = freeBySize.get(size)?.pop() ?? append(size)
      bytesUsed += size
      return offset
    },
    /** Zeroes a piece and keeps it for the next allocation of its size. */
    free: (offset: number, bytes: number): void => {
      const size = roundUpToAlignment(bytes)
      new Uint8Array(memory.buffer, offset, size).fill(0)
      const free = freeBySize.get(size)
      if (free) free.push(offset)
      else freeBySize.set(size, [offset])
      bytesUsed -= size
    },
    /** Whether leads may be added to this many more bytes of rows; the rest is kept for rows. */
    hasRoomForLeads: (bytes: number): boolean => bytesUsed + bytes <= leadsBytesMax,
    /** Allocated bytes. */
    bytesUsed: (): number => bytesUsed,
    quantiseRows: openQuantiseKernel(memory, scratch),
  }
}

function growTo(memory: WebAssembly.Memory, bytes: number): void {
  const pages = memory.buffer.byteLength / pageBytes
  const missing = Math.ceil(bytes / pageBytes) - pages
  if (missing <= 0) return
  assert.ok(pages + missing <= pagesMax, 'the search index is full: it can use at most 4 GiB')
  memory.grow(Math.min(Math.max(missing, growPagesMin), pagesMax - pages))
}

function roundUpToAlignment(bytes: number): number {
  return Math.ceil(bytes / alignment) * alignment
}
