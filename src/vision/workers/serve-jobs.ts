import { Socket } from 'node:net'

import { readFrames, writeFrame } from './frames.ts'
import { answerOf, answersFd, packAnswer, unpackJob } from './job.ts'
import type { Answer, Job } from './job.ts'
import type { View } from '../view.ts'

/** The worker's side: answers one job after another until the parent is gone. */
export async function serveJobs(look: (job: Job) => Promise<View>): Promise<void> {
  const answers = new Socket({ fd: answersFd, writable: true })
  const reply = (answer: Answer) => writeFrame(answers, packAnswer(answer))
  reply({ kind: 'ready' })
  // No bound of its own: the parent has bounded the request that each job came with.
  for await (const payload of readFrames(process.stdin, Number.POSITIVE_INFINITY))
    reply(await answerTo(unpackJob(payload), look))
}

async function answerTo(job: Job, look: (job: Job) => Promise<View>): Promise<Answer> {
  try {
    const view = await look(job)
    return { kind: 'view', view, rssBytes: process.memoryUsage.rss() }
  } catch (error) {
    return answerOf(error, process.memoryUsage.rss())
  }
}
