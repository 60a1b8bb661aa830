import { createHash } from 'node:crypto'
import { readFile } from 'node:fs/promises'
import { setTimeout as sleep } from 'node:timers/promises'
import { z } from 'zod'
import type { ImportEntry } from './list-entries.ts'

/** The result of an enrollment. */
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
 * Returns a function that enrolls one image with `svc.enroll`. The requestId is derived from the
 * content, so that a retry after a lost response does not enroll the image twice.
 *
 * @throws Error when the server rejects the key, or does not respond in 20 attempts.
 */
export function createEnrollSender({
  url,
  key,
  group,
}: EnrollSenderOptions): (entry: ImportEntry) => Promise<EnrollResult> {
  return async (entry) => {
    const body = JSON.stringify(await readBody(entry, group))
    for (let attempt = 1; ; attempt++) {
      const response = await post(`${url}/v1/face/execute`, key, body)
      const waitS = Number(response?.headers.get('retry-after') ?? 1)
      const result = response && (await parseResponse(response))
      if (result) return result
      if (attempt === attemptsMax) throw new Error(`${url} does not respond`)
      // The random part keeps several senders from retrying at the same time.
      await sleep(Math.min(waitMsMax, waitS * 1000 * (1 + Math.random())))
    }
  }
}

const pngSignature = Buffer.from('\x89PNG', 'latin1')

async function readBody(
  { file, externalId, displayName, groups }: ImportEntry,
  group: string | undefined,
) {
  const image = await readFile(file)
  // By the content: exports of other services have file names with a wrong extension.
  const contentType = image.subarray(0, 4).equals(pngSignature) ? 'image/png' : 'image/jpeg'
  const params = {
    images: [{ kind: 'image', bytes: image.toString('base64'), contentType }],
    externalId,
    displayName,
    groups: group === undefined ? groups : [...groups, group],
  }
  return { action: 'svc.enroll', requestId: contentUuid(JSON.stringify(params)), params }
}

/** Returns a UUID (version 8, RFC 9562) derived from a text: equal texts have equal UUIDs. */
function contentUuid(content: string): string {
  const hex = createHash('sha256').update(content).digest('hex')
  const [a, b, c, d, e] = [
    hex.slice(0, 8),
    hex.slice(8, 12),
    hex.slice(13, 16),
    hex.slice(17, 20),
    hex.slice(20, 32),
  ]
  return `${a}-${b}-8${c}-8${d}-${e}`
}

/** Returns undefined when the server cannot be reached. */
async function post(url: string, key: string, body: string): Promise<Response | undefined> {
  try {
    const headers = { 'x-api-key': key, 'content-type': 'application/json' }
    return await fetch(url, { method: 'POST', headers, body })
  } catch {
    return undefined
  }
}

/** Returns undefined when the call should be retried. @throws Error when the key is invalid. */
async function parseResponse(response: Response): Promise<EnrollResult | undefined> {
  if (response.status === 401) throw new Error('the server rejects the key')
  if (response.status >= 500) return undefined
  const body: unknown = await response.json()
  if (response.status !== 200)
    return { ok: false, code: `HTTP_${response.status}`, message: JSON.stringify(body) }
  const { ok, errors } = envelopeSchema.parse(body)
  const [error] = errors
  if (error?.code === 'RATE_LIMITED') return undefined
  return ok ? { ok } : { ok, ...error }
}
