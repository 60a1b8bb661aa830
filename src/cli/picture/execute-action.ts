import { readFile } from 'node:fs/promises'
import type { z } from 'zod'
import { contentTypeOf } from '../../lib/image-types/image-types.ts'
import { requireService, type ServiceOptions } from '../context/saved-context.ts'
import { detailOf, envelopeSchema, requestService } from '../import/enroll-sender.ts'
import { parseJsonText } from '../import/list-entries.ts'
import { version } from '../version.ts'

/** Time for the response, with the wait for a free worker. */
const responseMsMax = 120_000

/**
 * Sends pictures to an action of a running service and returns the value of its first result.
 *
 * @throws UsageError without a key; Error with the code, the reason and the remedy of a failed call.
 */
export async function executeAction<Value extends z.ZodType>(
  action: { readonly name: string; readonly value: Value },
  { files, ...params }: { readonly files: readonly string[]; readonly [name: string]: unknown },
  options: ServiceOptions,
): Promise<z.output<Value>> {
  const { url, key } = requireService(options)
  const images = await Promise.all(files.map(readPicture))
  const request = {
    method: 'POST',
    headers: { 'x-api-key': key, 'content-type': 'application/json' },
    body: JSON.stringify({ action: action.name, params: { ...params, images } }),
  }
  const response = await requestService(url, '/v1/face/execute', request, responseMsMax)
  const text = await response.text()
  const envelope = parseJsonText(envelopeSchema, text)
  if (!envelope)
    throw new Error(`${url} returned HTTP ${response.status}: ${detailOf(text) || 'no envelope'}`)
  const [error] = envelope.errors
  if (error) throw new Error([`${error.code}: ${error.message}`, error.hint ?? ''].join(' ').trim())
  const value = action.value.safeParse(envelope.data?.results[0]?.value)
  if (!value.success)
    throw new Error(`${url} returned no value of ${action.name}; is it Facegate ${version}?`)
  return value.data
}

async function readPicture(file: string) {
  const bytes = await readFile(file)
  const contentType = contentTypeOf(bytes)
  if (!contentType) throw new Error(`${file} is not a picture; pass a JPEG or a PNG`)
  return { kind: 'image', bytes: bytes.toString('base64'), contentType }
}
