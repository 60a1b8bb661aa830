/**
 * A vision worker that does not analyze images. The first word of the image text selects a fault,
 * such as a crash of native code. The second word makes images differ. The name of the models folder
 * selects a fault at the start.
 */
import { existsSync, writeSync } from 'node:fs'
import { setTimeout as pause } from 'node:timers/promises'
import { ActionError } from '../../../src/lib/errors.ts'
import type { ImageAnalysis } from '../../../src/vision/image-analysis.ts'
import {
  replyFd,
  serializeReply,
  type WorkerReply,
  type AnalysisJob,
  type WorkerStartOptions,
  serveJobs,
} from '../../../src/vision/workers/ipc/messages.ts'

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
  // Sends a reply here; `serveJobs` then sends a second one.
  replyTwice: () => sendReply({ kind: 'unexpectedError', stack: 'none', rssBytes: 1 }),
  replyAndExit: () =>
    sendReply({ kind: 'unexpectedError', stack: 'the end', rssBytes: 1 }) && process.exit(),
  invalidReply: () => writeSync(replyFd, Buffer.from([0, 0, 0, 3, 1, 2, 3])),
  oversizedReply: () => writeSync(replyFd, Buffer.alloc(1_000, 0xff)),
  // No reply follows: if it arrived together with this one, it would be reported instead.
  readyTwice: () => sendReply({ kind: 'ready' }) && pause(60_000),
  stopReading: () => process.stdin.pause() && pause(60_000),
  grow: () => retainedBuffers.push(Buffer.alloc(150 * 1024 * 1024, 1)),
  actionError: ({ path }) => {
    throw new ActionError('IMAGE_DECODE_FAILED', [`${path}: one`, `${path}: two`])
  },
  unexpectedError: () => {
    throw new TypeError('a secret of the worker')
  },
  // V8 refuses this size: the error is that of a machine without free memory.
  exhaustMemory: () => new ArrayBuffer(Number.MAX_SAFE_INTEGER),
  sleep: ({ image }) => pause(Number(image.bytes.split(' ')[1])),
  waitForFile: async ({ image }) => {
    while (!existsSync(image.bytes.split(' ')[1] ?? '')) await pause(5)
  },
}

function sendReply(reply: WorkerReply): number {
  const payload = serializeReply(reply)
  return writeSync(replyFd, Buffer.concat([Buffer.from([0, 0, 0, payload.length]), payload]))
}

async function analyze(job: AnalysisJob): Promise<ImageAnalysis> {
  await faults[job.image.bytes.split(' ', 1)[0] ?? '']?.(job)
  return {
    width: job.image.bytes.length,
    height: process.pid,
    orientationApplied: false,
    faceCount: 0,
    faceSidesPx: [],
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
