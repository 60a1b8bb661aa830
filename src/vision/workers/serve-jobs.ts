import { Socket } from 'node:net'
import type { ImageAnalysis } from '../image-analysis.ts'
import {
  readMessages,
  writeMessage,
  toErrorReply,
  replyFd,
  serializeReply,
  deserializeJob,
  type WorkerReply,
  type AnalysisJob,
} from './ipc/messages.ts'

/** Runs in the worker process: processes one job after another until the parent closes the pipe. */
export async function serveJobs(
  analyze: (job: AnalysisJob) => Promise<ImageAnalysis>,
): Promise<void> {
  const replies = new Socket({ fd: replyFd, writable: true })
  const sendReply = (reply: WorkerReply) => writeMessage(replies, serializeReply(reply))
  sendReply({ kind: 'ready' })
  // No size limit: the parent has already limited the size of the API request.
  for await (const payload of readMessages(process.stdin, Number.POSITIVE_INFINITY))
    sendReply(await runJob(deserializeJob(payload), analyze))
}

async function runJob(
  job: AnalysisJob,
  analyze: (job: AnalysisJob) => Promise<ImageAnalysis>,
): Promise<WorkerReply> {
  try {
    const analysis = await analyze(job)
    return { kind: 'analysis', analysis, rssBytes: process.memoryUsage.rss() }
  } catch (error) {
    return toErrorReply(error, process.memoryUsage.rss())
  }
}
