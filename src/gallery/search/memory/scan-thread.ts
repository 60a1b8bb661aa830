/** A thread that helps to scan: it waits for a turn, takes segments until none are left, again. */
import { workerData } from 'node:worker_threads'
import { jobBytes, jobOffset, jobWord } from '../scan/scan-job.ts'
import { openScanKernel } from '../scan/scan-kernel.ts'
import type { SearchThreadData } from './thread-messages.ts'

const { memory, threadIndex: seat } = workerData as SearchThreadData
const scanSegments = openScanKernel(memory)
const job = new Int32Array(memory.buffer, jobOffset, jobBytes / 4)

// Waiting is blocking, which is quick to end; the thread has no other events to miss.
for (let turn = 0; ; turn = Atomics.load(job, jobWord.turn)) {
  scanSegments(jobOffset, seat)
  Atomics.wait(job, jobWord.turn, turn)
}
