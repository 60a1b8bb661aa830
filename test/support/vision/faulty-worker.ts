/**
 * A vision worker that does what the picture's text says, instead of looking at it: the faults of
 * native code, at will. A second word makes pictures differ. The models folder tells how to start.
 */
import { writeSync } from 'node:fs'
import { setTimeout as pause } from 'node:timers/promises'

import { ActionError } from '../../../src/lib/errors.ts'
import { replyFd, serializeReply } from '../../../src/vision/workers/ipc/messages.ts'
import type {
  WorkerReply,
  AnalysisJob,
  WorkerStartOptions,
} from '../../../src/vision/workers/ipc/messages.ts'
import { serveJobs } from '../../../src/vision/workers/serve-jobs.ts'
import type { ImageAnalysis } from '../../../src/vision/image-analysis.ts'

const { modelsFolder } = JSON.parse(process.argv[2] ?? '') as WorkerStartOptions
const retainedBuffers: Buffer[] = []

const faults: Record<string, (job: AnalysisJob) => unknown> = {
  abort: () => process.abort(),
  crash: () => process.kill(process.pid, 'SIGSEGV'),
  exit: () => process.exit(0),
  spin: () => {
    for (;;) retainedBuffers.length = 0
  },
  hang: () => pause(60_000),
  // Answers twice: by hand, and then as everybody does.
  babble: () => writeResponse({ kind: 'fault', stack: 'none', rssBytes: 1 }),
  lastWords: () =>
    writeResponse({ kind: 'fault', stack: 'the end', rssBytes: 1 }) && process.exit(),
  garbage: () => writeSync(replyFd, Buffer.from([0, 0, 0, 3, 1, 2, 3])),
  flood: () => writeSync(replyFd, Buffer.alloc(1_000, 0xff)),
  early: () => writeResponse({ kind: 'ready' }),
  mute: () => process.stdin.pause() && pause(60_000),
  grow: () => retainedBuffers.push(Buffer.alloc(150 * 1024 * 1024, 1)),
  problem: ({ path }) => {
    throw new ActionError('IMAGE_DECODE_FAILED', [`${path}: one`, `${path}: two`])
  },
  fault: () => {
    throw new TypeError('a secret of the worker')
  },
  sleep: ({ image: picture }) => pause(Number(picture.bytes.split(' ')[1])),
}

function writeResponse(answer: WorkerReply): number {
  const payload = serializeReply(answer)
  return writeSync(replyFd, Buffer.concat([Buffer.from([0, 0, 0, payload.length]), payload]))
}

async function analyze(job: AnalysisJob): Promise<ImageAnalysis> {
  await faults[job.image.bytes.split(' ', 1)[0] ?? '']?.(job)
  return {
    width: job.image.bytes.length,
    height: process.pid,
    orientationApplied: false,
    faceCount: 0,
    faces: [],
    timingsMs: {
      decode: 0,
      detect: 0,
      landmarks: 0,
      align: 0,
      embed: 0,
      liveness: 0,
      attributes: 0,
      picture: 0,
    },
    providers: {},
  }
}

if (modelsFolder === 'missing') throw new Error('no such folder')
if (modelsFolder === 'slow') await pause(60_000)
await serveJobs(analyze)
process.exit()
