import { createHash } from 'node:crypto'
import { readFile } from 'node:fs/promises'
import { setTimeout as sleep } from 'node:timers/promises'
import { z } from 'zod'
import type { ImportEntry } from './list-entries.ts'

/** How an enrolment ended. */
export type EnrollResult = {
  readonly ok: boolean
  readonly code?: string | undefined
  readonly message?: string | undefined
}

export type EnrollSenderOptions = {
  readonly url: string
  readonly key: string
  readonly group: string | undefined
}

const envelopeSchema = z.object({
  ok: z.boolean(),
  errors: z.array(z.object({ code: z.string(), message: z.string() })),
})

const attemptsMax = 20
const waitMsMax = 30_000

/**
 * Enrolls one picture by `svc.enroll`. The requestId is made of the content, so that a picture whose
 * answer was lost is not enrolled twice.
 *
 * @throws Error when the server refuses the key, or does not answer for long.
 */
export function createEnrollSender({
  url,
  key,
  group,
}: EnrollSenderOptions): (entry: ImportEntry) => Promise<EnrollResult> {
  return async (entry) => {
    const body = JSON.stringify(await readBody(entry, group))
    for (let tries = 1; ; tries++) {
      const response = await post(`${url}/v1/face/execute`, key, body)
      const waitS = Number(response?.headers.get('retry-after') ?? 1)
      const sent = response && (await parseResponse(response))
      if (sent) return sent
      if (tries === attemptsMax) throw new Error(`${url} does not answer`)
      // With jitter, so that several senders do not come back together.
      await sleep(Math.min(waitMsMax, waitS * 1000 * (1 + Math.random())))
    }
  }
}

const pngSignature = Buffer.from('\x89PNG', 'latin1')

async function readBody(
  { file, externalId, displayName, groups }: ImportEntry,
  group: string | undefined,
) {
  const picture = await readFile(file)
  // By the content: what other services hand out is not always what its name says.
  const contentType = picture.subarray(0, 4).equals(pngSignature) ? 'image/png' : 'image/jpeg'
  const params = {
    images: [{ kind: 'image', bytes: picture.toString('base64'), contentType }],
    externalId,
    displayName,
    groups: group === undefined ? groups : [...groups, group],
  }
  return { action: 'svc.enroll', requestId: contentUuid(JSON.stringify(params)), params }
}

/** A UUID (version 8, RFC 9562) of a text: the same text gives the same one. */
function contentUuid(content: string): string {
  const hex = createHash('sha256').update(content).digest('hex')
  const [a, b, c, d, e] = [0, 8, 13, 17, 20].map((at, part) => {
    const length = [8, 4, 3, 3, 12][part] ?? 0
    return hex.slice(at, at + length)
  })
  return `${a}-${b}-8${c}-8${d}-${e}`
}

/** undefined when nobody is there, for the moment. */
async function post(url: string, key: string, body: string): Promise<Response | undefined> {
  try {
    const headers = { 'x-api-key': key, 'content-type': 'application/json' }
    return await fetch(url, { method: 'POST', headers, body })
  } catch {
    return undefined
  }
}

/** undefined when it is worth another try. @throws Error when the key is no good. */
async function parseResponse(response: Response): Promise<EnrollResult | undefined> {
  if (response.status === 401) throw new Error('the server refuses the key')
  if (response.status >= 500) return undefined
  const body: unknown = await response.json()
  if (response.status !== 200)
    return { ok: false, code: `HTTP_${response.status}`, message: JSON.stringify(body) }
  const { ok, errors } = envelopeSchema.parse(body)
  const [error] = errors
  if (error?.code === 'RATE_LIMITED') return undefined
  return ok ? { ok } : { ok, ...error }
}
