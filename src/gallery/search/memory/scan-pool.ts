import assert from 'node:assert/strict'
import type { SharedMemory } from '../scan/shared-memory.ts'
import { codeBytes, leadAxisCount, leadBytes, rowBytes } from '../scan/row-layout.ts'
import {
  heapEntryBytes,
  heapHeaderBytes,
  idleCursor,
  jobBytes,
  jobOffset,
} from '../scan/scan-job.ts'
import { segmentBytes, jobWord } from '../scan/scan-job.ts'
import type { ScanSegments } from '../scan/scan-kernel.ts'
import { quantiseLeadProbe } from '../table/lead.ts'
import { quantiseProbe } from '../table/quantise.ts'
import type { TemplateTable } from '../table/template-table.ts'

/** The threads that scan: the calling thread and helper threads that wait for jobs. */
export type ScanPool = ReturnType<typeof openScanPool>

export type ScanQuery = {
  readonly vector: Float32Array
  /** One byte per set of groups, see `GroupSets.allowed`. */
  readonly allowed: Uint8Array
  /** Rows that each thread keeps. */
  readonly rowsKept: number
}

/** Rows of a segment, about 50 µs: small enough to distribute, large enough for few claims. */
const segmentRows = 4_096
/** A helper thread takes about 50 µs to wake up, too long for tables below 32,768 rows. */
const segmentsToShare = 8
/** A segment takes far less than a millisecond: after this time, the thread must have ended. */
const scanThreadMsMax = 10_000

export function openScanPool(
  sharedMemory: SharedMemory,
  scanSegments: ScanSegments,
  helperCount: number,
) {
  const job = new Int32Array(sharedMemory.memory.buffer, jobOffset, jobBytes / 4)
  Atomics.store(job, jobWord.cursor, idleCursor)
  return {
    /** Returns the best rows of a table by the upper bounds of their scores. */
    scan: (table: TemplateTable, query: ScanQuery) => {
      const segments = segmentsOf(table)
      const buffers = allocateScanBuffers(sharedMemory, {
        probe: codeBytes(table.dimensions) * 2,
        leadProbe: leadAxisCount * 2,
        allowed: query.allowed.length,
        segments: segments.length * segmentBytes,
        // Includes helpers that are not notified: one may still respond to an earlier job.
        heaps: (helperCount + 1) * heapBytes(query.rowsKept),
      })
      writeJob(sharedMemory, buffers, { table, segments, query })
      Atomics.store(job, jobWord.cursor, 0)
      if (segments.length >= segmentsToShare) {
        Atomics.add(job, jobWord.generation, 1)
        Atomics.notify(job, jobWord.generation)
      }
      scanSegments(jobOffset, 0)
      awaitScanThreads(job, segments.length)
      Atomics.store(job, jobWord.cursor, idleCursor)
      const result = readHeaps(sharedMemory, buffers, query.rowsKept)
      buffers.close()
      return result
    },
  }
}

type ScanSegment = {
  readonly address: number
  readonly rows: number
  readonly first: number
  /** Address of the first lead; 0 without leads. */
  readonly leads: number
}

function segmentsOf(table: TemplateTable): ScanSegment[] {
  const segments: ScanSegment[] = []
  const bytes = rowBytes(table.dimensions)
  for (const block of table.blocks) {
    const used = table.rowsUsed(block)
    for (let index = 0; index < used; index += segmentRows)
      segments.push({
        address: block.offset + index * bytes,
        rows: Math.min(segmentRows, used - index),
        first: block.first + index,
        leads: block.leads ? block.leads.offset + index * leadBytes : 0,
      })
  }
  return segments
}

/** Addresses of the buffers of a job in shared memory. */
type ScanBuffers = ReturnType<typeof allocateScanBuffers>

type ScanBufferSizes = {
  readonly [part in 'probe' | 'leadProbe' | 'allowed' | 'segments' | 'heaps']: number
}

function allocateScanBuffers(sharedMemory: SharedMemory, bytes: ScanBufferSizes) {
  const aligned = (size: number): number => Math.ceil(size / 16) * 16
  const probes = aligned(bytes.probe) + aligned(bytes.leadProbe)
  const total = probes + aligned(bytes.allowed) + bytes.segments + bytes.heaps
  // Powers of two, so that later scans can reuse freed pieces.
  const size = 2 ** Math.ceil(Math.log2(total))
  const probe = sharedMemory.allocate(size)
  const leadProbe = probe + aligned(bytes.probe)
  const allowed = probe + probes
  const segments = allowed + aligned(bytes.allowed)
  const heaps = segments + bytes.segments
  /** Zeroes the buffers, because a probe is biometric data, and frees them. */
  const close = (): void => sharedMemory.free(probe, size)
  return { probe, leadProbe, allowed, segments, heaps, heapsEnd: heaps + bytes.heaps, close }
}

type ScanPlan = {
  readonly table: TemplateTable
  readonly segments: readonly ScanSegment[]
  readonly query: ScanQuery
}

function writeJob(
  sharedMemory: SharedMemory,
  buffers: ScanBuffers,
  { table, segments, query }: ScanPlan,
): void {
  const { buffer } = sharedMemory.memory
  const probe = new Int16Array(buffer, buffers.probe, table.dimensions)
  const { gain, reach } = quantiseProbe(query.vector, probe)
  new Uint8Array(buffer, buffers.allowed).set(query.allowed)
  const segmentWords = new Int32Array(buffer, buffers.segments, segments.length * 4)
  for (const [index, { address, rows, first, leads }] of segments.entries())
    segmentWords.set([address, rows, first, leads], index * 4)

  const job = new Int32Array(buffer, jobOffset, jobBytes / 4)
  const floats = new Float32Array(buffer, jobOffset, jobBytes / 4)
  job[jobWord.done] = 0
  job[jobWord.segments] = buffers.segments
  job[jobWord.segmentCount] = segments.length
  job[jobWord.probe] = buffers.probe
  job[jobWord.codeBytes] = codeBytes(table.dimensions)
  floats[jobWord.gain] = gain
  floats[jobWord.reach] = reach
  job[jobWord.allowed] = buffers.allowed
  job[jobWord.heapRows] = query.rowsKept
  job[jobWord.heaps] = buffers.heaps
  job[jobWord.heapBytes] = heapBytes(query.rowsKept)
  writeLeadProbe(sharedMemory, buffers, { table, query })
}

function writeLeadProbe(
  { memory: { buffer } }: SharedMemory,
  { leadProbe }: ScanBuffers,
  { table, query }: Pick<ScanPlan, 'table' | 'query'>,
): void {
  const axes = table.leadAxes()
  if (!axes) return
  const codes = new Int16Array(buffer, leadProbe, leadAxisCount)
  const { gain, restReach, scaleReach } = quantiseLeadProbe(query.vector, axes, codes)
  new Int32Array(buffer, jobOffset, jobBytes / 4)[jobWord.leadProbe] = leadProbe
  const floats = new Float32Array(buffer, jobOffset, jobBytes / 4)
  floats[jobWord.leadGain] = gain
  floats[jobWord.restReach] = restReach
  floats[jobWord.scaleReach] = scaleReach
}

function awaitScanThreads(job: Int32Array, segmentCount: number): void {
  for (;;) {
    const done = Atomics.load(job, jobWord.done)
    if (done === segmentCount) return
    const outcome = Atomics.wait(job, jobWord.done, done, scanThreadMsMax)
    assert.notEqual(outcome, 'timed-out', 'a scan thread has ended')
  }
}

function heapBytes(rowsKept: number): number {
  return heapHeaderBytes + rowsKept * heapEntryBytes
}

/**
 * Returns the numbers of the kept rows, unordered. No other row has a higher bound than `otherBoundMax`,
 * −Infinity if there is no other row.
 */
function readHeaps(sharedMemory: SharedMemory, buffers: ScanBuffers, rowsKept: number) {
  const { buffer } = sharedMemory.memory
  const rows: number[] = []
  let otherBoundMax = Number.NEGATIVE_INFINITY
  for (let heap = buffers.heaps; heap < buffers.heapsEnd; heap += heapBytes(rowsKept)) {
    const words = new Uint32Array(buffer, heap, heapBytes(rowsKept) / 4)
    const count = words[0] ?? 0
    for (let index = 0; index < count; index++) rows.push(words[3 + 2 * index] ?? 0)
    // Only a full heap has rejected rows. Its root is the lowest bound that it kept.
    const root = new Float32Array(buffer, heap + heapHeaderBytes, 1)[0] ?? 0
    if (count === rowsKept) otherBoundMax = Math.max(otherBoundMax, root)
  }
  return { rows: Uint32Array.from(rows), otherBoundMax }
}
