/**
 * The layout of a scan's job in shared memory, as `scan.wat` reads it: 32-bit words. There is one
 * job at a time, always at the same place, so that a waiting thread knows where to look.
 */
export const jobOffset = 64
export const jobBytes = 64

/** Word of the job → its number. */
export const jobWord = {
  /** Counts up when there is a job that wants more threads than the one that wrote it. */
  turn: 0,
  /** The next segment that nobody has taken. */
  cursor: 1,
  /** Segments that are finished. */
  done: 2,
  segments: 3,
  segmentCount: 4,
  probe: 5,
  codeBytes: 6,
  /** float32 */
  gain: 7,
  /** float32 */
  reach: 8,
  /** Address of one byte for each label: whether its rows may be found. */
  allowed: 9,
  /** Rows that each heap keeps. */
  heapRows: 10,
  /** Address of the heap of the first seat; the others follow, `heapBytes` apart. */
  heaps: 11,
  heapBytes: 12,
} as const

/**
 * The cursor between two jobs, beyond every segment: a thread that comes late takes nothing, and
 * none of what is being written for the next job.
 */
export const idleCursor = 2 ** 30

export const segmentBytes = 16
export const heapEntryBytes = 8
export const heapHeaderBytes = 8
