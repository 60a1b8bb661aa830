/** The main module of one vision worker: a process that owns sessions and decodes pictures. */
import type { WorkerStartOptions } from './ipc/messages.ts'
import { createPipeline } from '../pipeline.ts'
import { serveJobs } from './serve-jobs.ts'

// Ctrl-C in a terminal reaches the whole process group. When a worker ends is for the parent to
// say, who may be draining: it kills its workers, and a worker whose parent is gone ends itself.
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(signal, () => undefined)

const start = JSON.parse(process.argv[2] ?? '') as WorkerStartOptions
const pipeline = await createPipeline(start)
await serveJobs(({ image: picture, request: look, path }) =>
  pipeline.analyzeImage(picture, look, path),
)
process.exit()
