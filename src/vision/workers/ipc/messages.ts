import { deserialize, serialize } from 'node:v8'
import { z } from 'zod'
import { ActionError, errorTable, type ActionErrorCode } from '../../../lib/errors.ts'
import type { AnalysisRequest, ImageAnalysis } from '../../image-analysis.ts'
import type { EncodedImage } from '../../image/input/encoded-image.ts'
import type { PipelineOptions } from '../../pipeline.ts'
import type { Writable } from 'node:stream'
import { Socket } from 'node:net'

/** The options of a worker, passed as JSON in the only argument of its command line. */
export type WorkerStartOptions = Omit<PipelineOptions, 'createTemplate'>

/** Jobs use standard input. Replies use this file descriptor, to which no library prints. */
export const replyFd = 3

/** One image for a worker. */
export type AnalysisJob = {
  readonly image: EncodedImage
  readonly request: AnalysisRequest
  readonly path: string
}

/**
 * Jobs are sent in V8's serialization format, which copies a base64 string unchanged: 8 MiB take about
 * a millisecond. JSON takes more than thirty, because it searches for characters to escape. Workers
 * do not validate jobs, because only the parent can write them.
 */
export const serializeJob = (job: AnalysisJob): Buffer => serialize(job)
export const deserializeJob = (payload: Buffer): AnalysisJob => deserialize(payload) as AnalysisJob

const codeSchema = z.custom<ActionErrorCode>((code) => Object.hasOwn(errorTable, String(code)))

const problemSchema = z.object({
  code: codeSchema,
  message: z.string(),
  hint: z.string().exactOptional(),
})

/**
 * Replies are JSON and validated, because a worker that decodes untrusted images could be compromised
 * or damaged. The content of an analysis is created by our code and only checked for its shape.
 */
const replySchema = z.discriminatedUnion('kind', [
  z.strictObject({ kind: z.literal('ready') }),
  z.strictObject({
    kind: z.literal('analysis'),
    analysis: z.custom<ImageAnalysis>(isImageAnalysis),
    rssBytes: z.number(),
  }),
  z.strictObject({
    kind: z.literal('actionError'),
    code: codeSchema,
    problems: z.array(problemSchema).min(1).readonly(),
    rssBytes: z.number(),
  }),
  z.strictObject({ kind: z.literal('unexpectedError'), stack: z.string(), rssBytes: z.number() }),
])

/**
 * `ready` is sent once, at the start. Each job has one reply of another kind. `rssBytes` is the
 * resident memory of the worker after the job.
 */
export type WorkerReply = z.infer<typeof replySchema>

export const serializeReply = (reply: WorkerReply): Buffer =>
  Buffer.from(JSON.stringify(reply, serializeFloats))

/** @throws Error if the payload is not a valid reply. */
export function deserializeReply(payload: Buffer): WorkerReply {
  const text = payload.toString()
  // Without a template, `JSON.parse` is several times faster.
  const reply: unknown = text.includes('"vector"')
    ? JSON.parse(text, deserializeFloats)
    : JSON.parse(text)
  return replySchema.parse(reply)
}

/** The maximum size of a reply. 100 faces with crops take about 1 MiB. */
export const replyBytesMax = 16 * 1024 * 1024

/** Converts an exception in a worker to a reply. */
function toErrorReply(error: unknown, rssBytes: number): WorkerReply {
  if (error instanceof ActionError) {
    return { kind: 'actionError', code: error.code, problems: error.problems, rssBytes }
  }
  const stack = error instanceof Error ? (error.stack ?? error.message) : String(error)
  return { kind: 'unexpectedError', stack, rssBytes }
}

/** Encodes the vector of a template as base64 of its bytes: exact, and a third of the text. */
function serializeFloats(_key: string, value: unknown): unknown {
  if (!(value instanceof Float32Array)) return value
  return Buffer.from(value.buffer, value.byteOffset, value.byteLength).toString('base64')
}

/** @throws RangeError if the number of bytes is not a multiple of four. */
function deserializeFloats(key: string, value: unknown): unknown {
  if (key !== 'vector' || typeof value !== 'string') return value
  return new Float32Array(Uint8Array.from(Buffer.from(value, 'base64')).buffer)
}

function isImageAnalysis(value: unknown): boolean {
  return (
    typeof value === 'object' &&
    value !== null &&
    'faces' in value &&
    Array.isArray(value.faces) &&
    'width' in value &&
    typeof value.width === 'number'
  )
}

/** A message is the length of its payload (unsigned, 32 bits, big-endian), then the payload. */
const headerBytes = 4

/** Writes one message. The payload is not copied. */
export function writeMessage(stream: Writable, payload: Uint8Array): void {
  const header = Buffer.alloc(headerBytes)
  header.writeUInt32BE(payload.length)
  stream.cork()
  stream.write(header)
  stream.write(payload)
  stream.uncork()
}

/**
 * Yields the payloads of the messages on `stream` until it ends.
 *
 * Node's built-in IPC channel is not used: it throws inside the event loop of the reader if the bytes
 * are not a valid message, so one faulty worker could crash the server.
 *
 * @throws RangeError if a message announces more than `payloadBytesMax`.
 */
export async function* readMessages(
  stream: AsyncIterable<Buffer>,
  payloadBytesMax: number,
): AsyncGenerator<Buffer> {
  const splitMessages = createMessageSplitter(payloadBytesMax)
  for await (const chunk of stream) yield* splitMessages(chunk)
}

/**
 * Returns a function that expects the chunks of a stream and yields the payloads that are complete
 * with each of them. A payload is copied only if it is in several chunks, and then once.
 *
 * @throws RangeError as `readMessages`.
 */
export function createMessageSplitter(
  payloadBytesMax: number,
): (chunk: Buffer) => Generator<Buffer, void> {
  let buffered: Buffer[] = []
  let bufferedBytes = 0
  let neededBytes = headerBytes
  let isHeaderNext = true
  return function* splitMessages(chunk) {
    buffered.push(chunk)
    bufferedBytes += chunk.length
    while (bufferedBytes >= neededBytes) {
      const [first = chunk] = buffered
      const joined = buffered.length > 1 ? Buffer.concat(buffered) : first
      const part = joined.subarray(0, neededBytes)
      bufferedBytes -= neededBytes
      buffered = bufferedBytes > 0 ? [joined.subarray(neededBytes)] : []
      const isHeader = isHeaderNext
      neededBytes = isHeader ? payloadBytes(part, payloadBytesMax) : headerBytes
      isHeaderNext = !isHeader
      if (!isHeader) yield part
    }
  }
}

function payloadBytes(header: Buffer, bytesMax: number): number {
  const bytes = header.readUInt32BE()
  if (bytes > bytesMax)
    throw new RangeError(`a message of ${bytes} bytes exceeds the limit of ${bytesMax} bytes`)
  return bytes
}

/** Runs in the worker process: processes one job after another until the parent closes the pipe. */
export async function serveJobs(analyze: (job: AnalysisJob) => Promise<ImageAnalysis>) {
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
