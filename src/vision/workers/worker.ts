/** Entry module of a vision worker: a process that loads the models and analyzes images. */
import { flushCompileCache } from 'node:module'
import { createPipeline } from '../pipeline.ts'
import { type WorkerStartOptions, serveJobs } from './ipc/messages.ts'

// Ctrl-C in a terminal signals the whole process group, but the parent decides when workers stop,
// because it may still finish calls. The parent kills its workers, and a worker exits when the pipe
// from its parent closes.
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(signal, () => undefined)

const startOptions = JSON.parse(process.argv[2] ?? '') as WorkerStartOptions
const pipeline = await createPipeline(startOptions)
// Node writes the cache at the exit of a process, but a worker is killed. The worker is ready before.
setImmediate(() => flushCompileCache())
await serveJobs(({ image, request, path }) => pipeline.analyzeImage(image, request, path))
process.exit()
