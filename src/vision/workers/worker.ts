/** The main module of one vision worker: a process that owns sessions and decodes pictures. */
import type { WorkerStart } from './job.ts'
import { createPipeline } from '../pipeline.ts'
import { serveJobs } from './serve-jobs.ts'

// Ctrl-C in a terminal reaches the whole process group. When a worker ends is for the parent to
// say, who may be draining: it kills its workers, and a worker whose parent is gone ends itself.
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(signal, () => undefined)

const start = JSON.parse(process.argv[2] ?? '') as WorkerStart
const pipeline = await createPipeline(start)
await serveJobs(({ picture, look, path }) => pipeline.look(picture, look, path))
process.exit()
