import assert from 'node:assert/strict'
import { jobBytes, jobOffset } from './scan-job.ts'

/** WebAssembly's unit of memory. */
const pageBytes = 65_536
/** Four gigabytes: 15 million rows of 256 dimensions. Reserved as addresses, not as memory. */
const pagesMax = 65_536
/** The memory grows by this much, or by what is asked for if that is more. */
const growPagesMin = 64
const alignment = 16

/**
 * The memory that the scan reads, handed out in pieces. One memory for all galleries: a memory of
 * its own for each would reserve gigabytes of addresses a gallery, and be bound anew at each scan.
 */
export type SharedMemory = {
  readonly memory: WebAssembly.Memory
  /** Offset of `bytes` zero bytes at a multiple of 16. @throws Error when memory has run out. */
  readonly allocate: (bytes: number) => number
  /** Zeroes a piece and keeps it for the next one of its size. */
  readonly free: (offset: number, bytes: number) => void
  /** Bytes that are handed out. */
  readonly bytesUsed: () => number
}

/** Shared, so that the threads scan one copy of the rows. */
export function createSearchMemory(): WebAssembly.Memory {
  return new WebAssembly.Memory({ initial: 1, maximum: pagesMax, shared: true })
}

export function openSharedMemory(memory: WebAssembly.Memory): SharedMemory {
  const freeBySize = new Map<number, number[]>()
  let end = jobOffset + jobBytes
  let bytesUsed = 0
  const append = (size: number): number => {
    const offset = end
    growTo(memory, offset + size)
    end = offset + size
    return offset
  }
  return {
    memory,
    allocate: (bytes) => {
      const size = roundUpToAlignment(bytes)
      const offset = freeBySize.get(size)?.pop() ?? append(size)
      bytesUsed += size
      return offset
    },
    free: (offset, bytes) => {
      const size = roundUpToAlignment(bytes)
      new Uint8Array(memory.buffer, offset, size).fill(0)
      const free = freeBySize.get(size)
      if (free) free.push(offset)
      else freeBySize.set(size, [offset])
      bytesUsed -= size
    },
    bytesUsed: () => bytesUsed,
  }
}

function growTo(memory: WebAssembly.Memory, bytes: number): void {
  const pages = memory.buffer.byteLength / pageBytes
  const missing = Math.ceil(bytes / pageBytes) - pages
  if (missing <= 0) return
  assert.ok(pages + missing <= pagesMax, 'the search index is full: its memory ends at 4 GiB')
  memory.grow(Math.min(Math.max(missing, growPagesMin), pagesMax - pages))
}

function roundUpToAlignment(bytes: number): number {
  return Math.ceil(bytes / alignment) * alignment
}
