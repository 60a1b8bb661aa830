import { Socket } from 'node:net'

import { readMessages, writeMessage } from './ipc/message-framing.ts'
import { toErrorReply, replyFd, serializeReply, deserializeJob } from './ipc/messages.ts'
import type { WorkerReply, AnalysisJob } from './ipc/messages.ts'
import type { ImageAnalysis } from '../image-analysis.ts'

/** The worker's side: answers one job after another until the parent is gone. */
export async function serveJobs(look: (job: AnalysisJob) => Promise<ImageAnalysis>): Promise<void> {
  const answers = new Socket({ fd: replyFd, writable: true })
  const reply = (answer: WorkerReply) => writeMessage(answers, serializeReply(answer))
  reply({ kind: 'ready' })
  // No bound of its own: the parent has bounded the request that each job came with.
  for await (const payload of readMessages(process.stdin, Number.POSITIVE_INFINITY))
    reply(await runJob(deserializeJob(payload), look))
}

async function runJob(
  job: AnalysisJob,
  look: (job: AnalysisJob) => Promise<ImageAnalysis>,
): Promise<WorkerReply> {
  try {
    const view = await look(job)
    return { kind: 'view', view, rssBytes: process.memoryUsage.rss() }
  } catch (error) {
    return toErrorReply(error, process.memoryUsage.rss())
  }
}
