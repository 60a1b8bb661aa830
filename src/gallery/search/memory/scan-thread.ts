/** A thread that helps to scan: it scans segments until none are left, then waits for the next job. */
import { workerData } from 'node:worker_threads'
import { jobBytes, jobOffset, jobWord } from '../scan/scan-job.ts'
import { openScanKernel } from '../scan/scan-kernel.ts'
import type { SearchThreadData } from './search-threads.ts'

const { memory, threadIndex } = workerData as SearchThreadData
const scanSegments = openScanKernel(memory)
const job = new Int32Array(memory.buffer, jobOffset, jobBytes / 4)

// A blocking wait wakes up fastest, and this thread receives no other events.
for (let generation = 0; ; generation = Atomics.load(job, jobWord.generation)) {
  scanSegments(jobOffset, threadIndex)
  Atomics.wait(job, jobWord.generation, generation)
}
