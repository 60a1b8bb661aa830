/** A thread that helps to scan: it waits for a turn, takes segments until none are left, again. */
import { workerData } from 'node:worker_threads'
import { jobBytes, jobOffset, word } from './job.ts'
import { openKernel } from './kernel.ts'
import type { ThreadStart } from './message.ts'

const { memory, seat } = workerData as ThreadStart
const work = openKernel(memory)
const job = new Int32Array(memory.buffer, jobOffset, jobBytes / 4)

// Waiting is blocking, which is quick to end; the thread has no other events to miss.
for (let turn = 0; ; turn = Atomics.load(job, word.turn)) {
  work(jobOffset, seat)
  Atomics.wait(job, word.turn, turn)
}
