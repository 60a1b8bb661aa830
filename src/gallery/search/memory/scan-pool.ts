import assert from 'node:assert/strict'
import type { SharedMemory } from '../scan/shared-memory.ts'
import { codeBytes, rowBytes } from '../table/row-block.ts'
import {
  heapEntryBytes,
  heapHeaderBytes,
  idleCursor,
  jobBytes,
  jobOffset,
} from '../scan/scan-job.ts'
import { segmentBytes, jobWord } from '../scan/scan-job.ts'
import type { ScanSegments } from '../scan/scan-kernel.ts'
import { quantiseProbe } from '../table/quantise.ts'
import type { TemplateTable } from '../table/template-table.ts'

/** The threads that scan: the one that calls, and assistants that wait for its turns. */
export type ScanPool = {
  /** The best rows of a table by the upper bound of their scores. */
  readonly scan: (table: TemplateTable, question: ScanQuery) => ScanResult
}

export type ScanQuery = {
  readonly vector: Float32Array
  /** One byte a label. */
  readonly allowed: Uint8Array
  /** How many rows each thread keeps. */
  readonly rowsKept: number
}

export type ScanResult = {
  /** Numbers of the rows that were kept, in no order. */
  readonly rows: Uint32Array
  /** No other row has a higher bound; −Infinity when there is no other row. */
  readonly otherBoundMax: number
}

/** Rows that a thread takes at a time, some 50 µs: fine enough to share, coarse enough to claim. */
const segmentRows = 4_096
/** An assistant takes some 50 µs to wake up; below 32,768 rows it would come too late. */
const segmentsToShare = 8
/** An assistant still at its segment after this is gone: one takes far below a millisecond. */
const scanThreadMsMax = 10_000

export function openScanPool(
  arena: SharedMemory,
  work: ScanSegments,
  assistants: number,
): ScanPool {
  const job = new Int32Array(arena.memory.buffer, jobOffset, jobBytes / 4)
  Atomics.store(job, jobWord.cursor, idleCursor)
  return {
    scan: (table, question) => {
      const segments = segmentsOf(table)
      const scratch = allocateScanBuffers(arena, {
        probe: codeBytes(table.dimensions) * 2,
        allowed: question.allowed.length,
        segments: segments.length * segmentBytes,
        // Also for assistants that are not called: one may still be on its way to an earlier job.
        heaps: (assistants + 1) * heapBytes(question.rowsKept),
      })
      writeJob(arena, scratch, { table, segments, query: question })
      Atomics.store(job, jobWord.cursor, 0)
      if (segments.length >= segmentsToShare) {
        Atomics.add(job, jobWord.turn, 1)
        Atomics.notify(job, jobWord.turn)
      }
      work(jobOffset, 0)
      awaitScanThreads(job, segments.length)
      Atomics.store(job, jobWord.cursor, idleCursor)
      const scan = readHeaps(arena, scratch, question.rowsKept)
      scratch.close()
      return scan
    },
  }
}

type ScanSegment = { readonly address: number; readonly rows: number; readonly first: number }

function segmentsOf(table: TemplateTable): ScanSegment[] {
  const segments: ScanSegment[] = []
  const bytes = rowBytes(table.dimensions)
  for (const block of table.blocks) {
    const used = table.rowsUsed(block)
    for (let at = 0; at < used; at += segmentRows)
      segments.push({
        address: block.offset + at * bytes,
        rows: Math.min(segmentRows, used - at),
        first: block.first + at,
      })
  }
  return segments
}

/** Addresses of the parts of a job in the arena. */
type ScanBuffers = {
  readonly probe: number
  readonly allowed: number
  readonly segments: number
  readonly heaps: number
  readonly heapsEnd: number
  /** Zeroes it: a probe is a person's as much as a template is. */
  readonly close: () => void
}

type ScanBufferSizes = { readonly [part in 'probe' | 'allowed' | 'segments' | 'heaps']: number }

function allocateScanBuffers(arena: SharedMemory, bytes: ScanBufferSizes): ScanBuffers {
  const aligned = (size: number): number => Math.ceil(size / 16) * 16
  const parts = aligned(bytes.probe) + aligned(bytes.allowed) + bytes.segments + bytes.heaps
  // A few sizes only, so that freed pieces are of use to later scans.
  const size = 2 ** Math.ceil(Math.log2(parts))
  const probe = arena.allocate(size)
  const allowed = probe + aligned(bytes.probe)
  const segments = allowed + aligned(bytes.allowed)
  const heaps = segments + bytes.segments
  const close = (): void => arena.free(probe, size)
  return { probe, allowed, segments, heaps, heapsEnd: heaps + bytes.heaps, close }
}

type ScanPlan = {
  readonly table: TemplateTable
  readonly segments: readonly ScanSegment[]
  readonly query: ScanQuery
}

function writeJob(
  arena: SharedMemory,
  scratch: ScanBuffers,
  { table, segments, query: question }: ScanPlan,
): void {
  const { buffer } = arena.memory
  const probe = new Int16Array(buffer, scratch.probe, table.dimensions)
  const { gain, reach } = quantiseProbe(question.vector, probe)
  new Uint8Array(buffer, scratch.allowed).set(question.allowed)
  const list = new Int32Array(buffer, scratch.segments, segments.length * 4)
  for (const [at, { address, rows, first }] of segments.entries())
    list.set([address, rows, first], at * 4)

  const job = new Int32Array(buffer, jobOffset, jobBytes / 4)
  const floats = new Float32Array(buffer, jobOffset, jobBytes / 4)
  job[jobWord.done] = 0
  job[jobWord.segments] = scratch.segments
  job[jobWord.segmentCount] = segments.length
  job[jobWord.probe] = scratch.probe
  job[jobWord.codeBytes] = codeBytes(table.dimensions)
  floats[jobWord.gain] = gain
  floats[jobWord.reach] = reach
  job[jobWord.allowed] = scratch.allowed
  job[jobWord.heapRows] = question.rowsKept
  job[jobWord.heaps] = scratch.heaps
  job[jobWord.heapBytes] = heapBytes(question.rowsKept)
}

function awaitScanThreads(job: Int32Array, segments: number): void {
  for (;;) {
    const done = Atomics.load(job, jobWord.done)
    if (done === segments) return
    const outcome = Atomics.wait(job, jobWord.done, done, scanThreadMsMax)
    assert.notEqual(outcome, 'timed-out', 'a thread of the search is gone')
  }
}

function heapBytes(rowsKept: number): number {
  return heapHeaderBytes + rowsKept * heapEntryBytes
}

function readHeaps(arena: SharedMemory, scratch: ScanBuffers, rowsKept: number): ScanResult {
  const { buffer } = arena.memory
  const rows: number[] = []
  let boundOfOthers = Number.NEGATIVE_INFINITY
  for (let heap = scratch.heaps; heap < scratch.heapsEnd; heap += heapBytes(rowsKept)) {
    const words = new Uint32Array(buffer, heap, heapBytes(rowsKept) / 4)
    const count = words[0] ?? 0
    for (let at = 0; at < count; at++) rows.push(words[3 + 2 * at] ?? 0)
    // A heap that is not full has turned nothing away; else its root is the lowest it has kept.
    const root = new Float32Array(buffer, heap + heapHeaderBytes, 1)[0] ?? 0
    if (count === rowsKept) boundOfOthers = Math.max(boundOfOthers, root)
  }
  return { rows: Uint32Array.from(rows), otherBoundMax: boundOfOthers }
}
