import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import type { ChildProcess } from 'node:child_process'
import { Socket } from 'node:net'
import type { Writable } from 'node:stream'
import { fileURLToPath } from 'node:url'

import type { Log } from '../../lib/log.ts'
import { readMessages, writeMessage } from './ipc/message-framing.ts'
import { replyBytesMax, replyFd, deserializeReply } from './ipc/messages.ts'
import type { WorkerReply, WorkerStartOptions } from './ipc/messages.ts'

/** A worker process and the line to it: one question at a time, each answered or the end of it. */
export type WorkerConnection = {
  readonly pid: number
  /**
   * Sends `payload`, if any, and resolves with the answer to it.
   *
   * @throws WorkerLost when the process is gone, or has to go as it took more than `msMax`.
   */
  readonly request: (payload: Uint8Array | undefined, msMax: number) => Promise<WorkerReply>
  readonly isBusy: () => boolean
  /** Whether the process is gone or being killed. */
  readonly isLost: () => boolean
  /** Kills the process and resolves, when it is gone, with the error that says why it had to. */
  readonly kill: (reason: string) => Promise<WorkerLostError>
  /** Resolves when the process is gone. */
  readonly exited: Promise<WorkerLostError>
}

export type WorkerConnectionOptions = {
  /** The module that the process runs. */
  readonly entryModule: URL
  readonly startOptions: WorkerStartOptions
  /** Kills the process when aborted. */
  readonly signal: AbortSignal
  readonly log: Pick<Log, 'warn'>
}

/** The process ended, or was ended, before it answered; the message says how. */
export class WorkerLostError extends Error {
  override readonly name = 'WorkerLost'
}

export function openWorkerConnection(options: WorkerConnectionOptions): WorkerConnection {
  const worker = spawnWorker(options)
  const gone = Promise.withResolvers<WorkerLostError>()
  let question: PromiseWithResolvers<WorkerReply> | undefined
  let reason: string | undefined

  function cut(why: string): Promise<WorkerLostError> {
    reason ??= why
    worker.process.kill('SIGKILL')
    return gone.promise
  }

  async function ask(payload: Uint8Array | undefined, msMax: number): Promise<WorkerReply> {
    assert.equal(question, undefined, 'a worker is asked one thing at a time')
    if (reason !== undefined) throw await gone.promise
    const asked = Promise.withResolvers<WorkerReply>()
    question = asked
    const timer = setTimeout(() => void cut(`no answer within ${msMax} ms`), msMax)
    if (payload) writeMessage(worker.jobs, payload)
    return asked.promise.finally(() => clearTimeout(timer))
  }

  async function listen(): Promise<void> {
    for await (const payload of readMessages(worker.replies, replyBytesMax)) {
      const answer = deserializeReply(payload)
      if (!question) throw new Error('an answer that nobody asked for')
      question.resolve(answer)
      question = undefined
    }
  }

  worker.process.on('error', (error) => (reason ??= error.message))
  // Not `exit`, which may come before the last answer is read.
  worker.process.on('close', (code, signal) => {
    reason ??= signal ? `ended by ${signal}` : `ended with code ${code}`
    const lost = new WorkerLostError(`the worker was lost: ${reason}`)
    gone.resolve(lost)
    question?.reject(lost)
    question = undefined
  })
  listen().catch((error: Error) => cut(`sent garbage: ${error.message}`))

  return {
    pid: worker.pid,
    request: ask,
    isBusy: () => question !== undefined,
    isLost: () => reason !== undefined,
    kill: cut,
    exited: gone.promise,
  }
}

/** The process of one worker and its pipes. */
type SpawnedWorker = {
  readonly process: ChildProcess
  readonly pid: number
  readonly jobs: Writable
  readonly replies: AsyncIterable<Buffer>
}

/**
 * The environment is empty: the server's secrets have no business in the process that decodes
 * strangers' pictures. What native code prints goes to the log, as text in a field.
 */
function spawnWorker({
  entryModule: entry,
  startOptions: start,
  signal,
  log,
}: WorkerConnectionOptions): SpawnedWorker {
  const args = [...nodeFlags, fileURLToPath(entry), JSON.stringify(start)]
  const worker = spawn(process.execPath, args, {
    env: {},
    stdio: ['pipe', 'ignore', 'pipe', 'pipe'],
    signal,
    killSignal: 'SIGKILL',
  })
  // Unheard, an `error` event would end this process; what is to be known, the end tells.
  const ignore = () => undefined
  worker.on('error', ignore)
  const { pid = 0, stdin, stderr, stdio } = worker
  const answers = stdio[replyFd]
  assert.ok(stdin && stderr && answers instanceof Socket, 'the pipes to a worker are open')
  stdin.on('error', ignore)
  stderr.setEncoding('utf8').on('data', (text: string) => {
    log.warn({ workerPid: pid, text: text.slice(0, loggedCharsMax) }, 'a vision worker printed')
  })
  return { process: worker, pid, jobs: stdin, replies: answers }
}

/**
 * Each look leaves megabytes of pixels behind, and V8 sees an old generation that must be collected
 * at once: every third look, a fifth of its time with small networks. Told to begin with 64 MB, it
 * collects a third as often, for 17 MB more memory.
 */
const nodeFlags = ['--initial-old-space-size=64']

/** What is logged of one chunk that a worker prints. */
const loggedCharsMax = 2_000
