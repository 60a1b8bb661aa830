/**
 * The layout of a scan job in shared memory: 32-bit words, as `scan.wat` reads them. There is one
 * job at a time, always at the same offset.
 */
export const jobOffset = 64
export const jobBytes = 128

/** Index of each word in the job. */
export const jobWord = {
  /** Increases with each job that needs the scan threads. */
  generation: 0,
  /** Index of the next segment to scan. */
  cursor: 1,
  /** Number of finished segments. */
  done: 2,
  /** Address of the segments. */
  segments: 3,
  segmentCount: 4,
  /** Address of the probe's codes. */
  probe: 5,
  codeBytes: 6,
  /** float32 */
  gain: 7,
  /** float32 */
  reach: 8,
  /** Address of one byte per set of groups: whether its rows may be found. */
  allowed: 9,
  /** Rows that each heap keeps. */
  heapRows: 10,
  /** Address of the heap of the first thread. The others follow, `heapBytes` apart. */
  heaps: 11,
  heapBytes: 12,
  /** Address of the codes of the probe for the lead axes; unused by a table without leads. */
  leadProbe: 13,
  /** float32 */
  leadGain: 14,
  /** float32 */
  restReach: 15,
  /** float32 */
  scaleReach: 16,
} as const

/**
 * Value of the cursor between two jobs, larger than every segment count. A late thread therefore
 * scans nothing while the next job is being written.
 */
export const idleCursor = 2 ** 30

export const segmentBytes = 16
export const heapEntryBytes = 8
export const heapHeaderBytes = 8
