import { deserialize, serialize } from 'node:v8'

import { z } from 'zod'

import { ActionError, errorTable } from '../../../lib/errors.ts'
import type { ActionErrorCode } from '../../../lib/errors.ts'
import type { ModelSet } from '../../../models/model-set.ts'
import type {
  AnalysisRequest,
  EncodedImage,
  ImageLimits,
  ImageAnalysis,
} from '../../image-analysis.ts'

/** What a worker is told when it starts: the one argument of its command line, as JSON. */
export type WorkerStartOptions = {
  readonly modelsFolder: string
  readonly modelSet: ModelSet
  readonly limits: ImageLimits
}

/** Jobs go to standard input; answers leave by this file descriptor, where nothing else prints. */
export const replyFd = 3

/** One picture for a worker. */
export type AnalysisJob = {
  readonly image: EncodedImage
  readonly request: AnalysisRequest
  readonly path: string
}

/**
 * Jobs travel in V8's own form, which takes a base64 string as it is: 8 MiB in about a
 * millisecond, where JSON needs more than thirty to look for characters to escape. Workers trust
 * what they read: nobody but the parent writes to them.
 */
export const serializeJob = (job: AnalysisJob): Buffer => serialize(job)
export const deserializeJob = (payload: Buffer): AnalysisJob => deserialize(payload) as AnalysisJob

/**
 * An answer is JSON, and checked: a worker that decodes strangers' pictures is not trusted to
 * send well-formed data. What is inside a view comes from our own code and is taken as it is.
 */
const replySchema = z.discriminatedUnion('kind', [
  z.strictObject({ kind: z.literal('ready') }),
  z.strictObject({
    kind: z.literal('view'),
    view: z.custom<ImageAnalysis>(isImageAnalysis),
    rssBytes: z.number(),
  }),
  z.strictObject({
    kind: z.literal('problem'),
    code: z.custom<ActionErrorCode>((code) => Object.hasOwn(errorTable, String(code))),
    messages: z.array(z.string()).min(1),
    rssBytes: z.number(),
  }),
  z.strictObject({ kind: z.literal('fault'), stack: z.string(), rssBytes: z.number() }),
])

/**
 * `ready` comes once, at the start; each job is answered by one of the others. `rssBytes` is the
 * resident memory of the worker after the job.
 */
export type WorkerReply = z.infer<typeof replySchema>

export const serializeReply = (answer: WorkerReply): Buffer =>
  Buffer.from(JSON.stringify(answer, serializeFloats))

/** @throws when the payload is not an answer. */
export const deserializeReply = (payload: Buffer): WorkerReply =>
  replySchema.parse(JSON.parse(payload.toString(), deserializeFloats))

/** The most that an answer may weigh: 100 faces with crops weigh about 1 MiB. */
export const replyBytesMax = 16 * 1024 * 1024

/** What an exception in a worker becomes on its way to the parent. */
export function toErrorReply(error: unknown, rssBytes: number): WorkerReply {
  if (error instanceof ActionError) {
    const messages = error.problems.map((problem) => problem.message)
    return { kind: 'problem', code: error.code, messages, rssBytes }
  }
  const stack = error instanceof Error ? (error.stack ?? error.message) : String(error)
  return { kind: 'fault', stack, rssBytes }
}

/** The vector of a template travels as base64 of its bytes: all of its bits, in a third of the text. */
function serializeFloats(_key: string, value: unknown): unknown {
  if (!(value instanceof Float32Array)) return value
  return Buffer.from(value.buffer, value.byteOffset, value.byteLength).toString('base64')
}

/** @throws RangeError when the bytes are no whole number of values. */
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
