import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { getCompileCacheDir } from 'node:module'
import { Socket } from 'node:net'
import path from 'node:path'
import { fileURLToPath } from 'node:url'
import type { Log } from '../../lib/log.ts'
import {
  createMessageSplitter,
  writeMessage,
  replyBytesMax,
  replyFd,
  deserializeReply,
  type WorkerReply,
  type WorkerStartOptions,
} from './ipc/messages.ts'

/** A worker process with its pipes. It handles one request at a time. */
export type WorkerConnection = ReturnType<typeof openWorkerConnection>

export type WorkerConnectionOptions = {
  /** The module that the process runs. */
  readonly entryModule: URL
  readonly startOptions: WorkerStartOptions
  /** Kills the process when aborted. */
  readonly signal: AbortSignal
  readonly log: Pick<Log, 'warn'>
}

/** The worker process exited or was killed before it replied. The message contains the reason. */
export class WorkerLostError extends Error {
  override readonly name = 'WorkerLostError'
}

export function openWorkerConnection(options: WorkerConnectionOptions) {
  const worker = spawnWorker(options)
  const exited = Promise.withResolvers<WorkerLostError>()
  let pending: PromiseWithResolvers<WorkerReply> | undefined
  let lossReason: string | undefined

  function kill(reason: string): Promise<WorkerLostError> {
    lossReason ??= reason
    worker.process.kill('SIGKILL')
    return exited.promise
  }

  async function request(payload: Uint8Array | undefined, msMax: number): Promise<WorkerReply> {
    assert.equal(pending, undefined, 'a worker handles one request at a time')
    if (lossReason !== undefined) throw await exited.promise
    const reply = Promise.withResolvers<WorkerReply>()
    pending = reply
    const timer = setTimeout(() => void kill(`no reply within ${msMax} ms`), msMax)
    if (payload) writeMessage(worker.jobs, payload)
    return reply.promise.finally(() => clearTimeout(timer))
  }

  function receiveReply(reply: WorkerReply): void {
    if (!pending) throw new Error('a reply without a request')
    pending.resolve(reply)
    pending = undefined
  }

  worker.process.on('error', (error) => (lossReason ??= error.message))
  // `exit` can fire before the last reply is read, `close` cannot.
  worker.process.on('close', (code, signal) => {
    lossReason ??= signal ? `killed by ${signal}` : `exited with code ${code}`
    const error = new WorkerLostError(`the worker was lost: ${lossReason}`)
    exited.resolve(error)
    pending?.reject(error)
    pending = undefined
  })
  readReplies(worker.replies, receiveReply, (reason) => void kill(reason))

  return {
    pid: worker.pid,
    /**
     * Sends `payload`, if given, and resolves with the next reply.
     *
     * @throws WorkerLostError if the process has exited, or is killed because of the timeout
     *   `msMax`.
     */
    request,
    isBusy: (): boolean => pending !== undefined,
    /** Whether the process has exited or is being killed. */
    isLost: (): boolean => lossReason !== undefined,
    /** Kills the process. Resolves after its exit with the error that contains the reason. */
    kill,
    /** Resolves when the process has exited. */
    exited: exited.promise,
  }
}

/** Passes on each reply until one is invalid, or `receive` throws; then reports the reason once. */
function readReplies(
  replies: Socket,
  receive: (reply: WorkerReply) => void,
  onInvalid: (reason: string) => void,
): void {
  const splitMessages = createMessageSplitter(replyBytesMax)
  let isValid = true
  const reject = ({ message }: Error): void => {
    isValid = false
    onInvalid(`invalid reply: ${message}`)
  }
  // Events take less time than an iterator, which needs several promises for each chunk.
  replies.on('data', (chunk: Buffer) => {
    if (!isValid) return
    try {
      for (const payload of splitMessages(chunk)) receive(deserializeReply(payload))
    } catch (error) {
      reject(error as Error)
    }
  })
  replies.on('error', reject)
}

/**
 * Starts a process with settings of the allocator and the folder of compiled code as its only
 * environment: the process that decodes untrusted images has no access to the secrets of the server.
 * The text that native code prints is logged in a field.
 */
function spawnWorker({ entryModule, startOptions, signal, log }: WorkerConnectionOptions) {
  const args = [...nodeFlags, fileURLToPath(entryModule), JSON.stringify(startOptions)]
  const worker = spawn(process.execPath, args, {
    env: { ...allocatorSettings, ...compileCacheSettings() },
    stdio: ['pipe', 'ignore', 'pipe', 'pipe'],
    signal,
    killSignal: 'SIGKILL',
  })
  // Without a listener, an `error` event would crash this process. The `close` event follows anyway.
  const ignore = () => undefined
  worker.on('error', ignore)
  const { pid = 0, stdin, stderr, stdio } = worker
  const replies = stdio[replyFd]
  assert.ok(stdin && stderr && replies instanceof Socket, 'the pipes to a worker are open')
  stdin.on('error', ignore)
  stderr.setEncoding('utf8').on('data', (text: string) => {
    log.warn(
      { workerPid: pid, text: text.slice(0, loggedCharsMax) },
      'a vision worker wrote to stderr',
    )
  })
  return { process: worker, pid, jobs: stdin, replies }
}

/**
 * The pixels of an image are freed at the end of its analysis, but V8 counts the tensors of the networks
 * as its own memory. With the default limits, it collects the old generation after every third
 * analysis, which takes a fifth of the time with small networks. With an initial old generation of
 * 32 MB, the large detector takes 104 instead of 80 ms. The
 * young generation is small, because pixels are outside of it.
 */
const nodeFlags = ['--initial-old-space-size=64', '--max-semi-space-size=4']

/**
 * Settings of glibc's allocator, which other libraries ignore. A worker computes on one thread, so that
 * further arenas would only keep freed memory. Blocks from 4 MiB on, such as the buffers of the large
 * detector, return to the system when they are freed, and so do 12 MiB at the end of the heap. With large
 * pages (from glibc 2.35 on), the system provides these blocks again in a quarter of the time, which is a
 * fifth of the time of the large detector. From 8 MiB on, a worker has 15 MB more after a thousand images,
 * and is 5 % faster with groups and 1 % with float32 recognizers. With 32 MiB at the end of the heap, it
 * had up to 235 instead of 202 MB.
 */
const allocatorSettings = {
  GLIBC_TUNABLES: 'glibc.malloc.hugetlb=1',
  MALLOC_ARENA_MAX: '1',
  MALLOC_MMAP_THRESHOLD_: String(4 * 2 ** 20),
  MALLOC_TRIM_THRESHOLD_: String(12 * 2 ** 20),
}

/** The cache of compiled code of this process: a worker that compiles its modules starts later. */
function compileCacheSettings(): { readonly NODE_COMPILE_CACHE?: string } {
  // Node appends a folder for its version and flags, which differ for a worker.
  const folder = getCompileCacheDir()
  return folder === undefined ? {} : { NODE_COMPILE_CACHE: path.dirname(folder) }
}

/** The maximum length of the logged text for one chunk of output. */
const loggedCharsMax = 2_000
