import assert from 'node:assert/strict'
import { Readable } from 'node:stream'
import { z } from 'zod'
import { allActions } from '../../src/actions/all-actions.ts'
import { imageQuery, pageQuery, readQuery } from '../../src/compreface/input/query.ts'
import { readMultipartFiles } from '../../src/http/input/multipart.ts'
import { createIncomingBody, unlimitedBodyBudget } from '../../src/http/input/incoming-body.ts'
import { parseJson } from '../../src/http/input/parse-json.ts'
import { readCall } from '../../src/http/input/read-call.ts'
import type { HttpRequest } from '../../src/http/route.ts'
import { packCursor, unpackCursor } from '../../src/http/routes/pagination.ts'
import { appendChecksum, isApiKey } from '../../src/lib/crypto/api-key.ts'
import { ActionError, HttpError } from '../../src/lib/errors.ts'
import { isUuid } from '../../src/lib/ids.ts'
import type { KeyIdentity } from '../../src/store/tenancy/keys.ts'
import { bufferOf, seedsOf, textOf, type FuzzTarget } from './target.ts'

const jsonLimits = { depthMax: 16, tokensMax: 10_000 }

const isHttpRejection = (error: unknown): boolean =>
  error instanceof HttpError && error.status === 400

const jsonTokens = [
  '{',
  '}',
  '[',
  ']',
  ':',
  ',',
  '"',
  '\\',
  '\\"',
  '\\u0000',
  '\\ud800',
  '"__proto__":',
  '1e400',
  '"constructor":',
  '\xef\xbb\xbf',
  '\xff',
  '[{},',
  'null',
  '-0',
  '\\u005f_proto__',
  ' \t\r\n',
]

/** The structure of a request body. */
export const json: FuzzTarget = {
  name: 'json',
  seeds: () =>
    seedsOf([
      '{}',
      '{"a":{"b":[1,2.5e3,null,true,"x\\n\\u00e9"]}}',
      '{"action":"svc.detect","params":{"images":[{"kind":"image"}]},"debug":false}',
      '{"a":1,"a":2}',
      `${'{"a":'.repeat(16)}1${'}'.repeat(16)}`,
    ]),
  tokens: jsonTokens,
  run: (input) => {
    const value = parseJson(bufferOf(input), jsonLimits)
    assert.deepEqual(value, JSON.parse(textOf(input)))
    assert.ok(!/"(?:__proto__|constructor)":/u.test(JSON.stringify(value)))
    return `object of ${Math.min(Object.keys(value).length, 9)}`
  },
  isExpected: isHttpRejection,
}

const requestId = '7f6a1f0c-7a2e-4b43-9f0e-0a8d6a1c2b3d'
const actionsByName = new Map(allActions.map((action) => [action.name, action]))

/** The envelope of a call and the parameters of its action. */
export const call: FuzzTarget = {
  name: 'call',
  seeds: () =>
    allActions.map(({ name, example }) =>
      Buffer.from(
        JSON.stringify({
          action: name,
          requestId,
          debug: true,
          params: {
            images: [{ kind: 'image', bytes: 'AAAA', contentType: 'image/png' }],
            ...example.params,
          },
        }),
      ),
    ),
  tokens: [...jsonTokens, '"params":', '"images":', '"bytes":', ...actionsByName.keys()],
  run: async (input) => {
    const gate = { findEarlyRejection: async () => undefined }
    const options = { actions: actionsByName, bodyBytesMax: 1_000_000, jsonLimits, gate }
    const { echoed, content } = await readCall(requestOf(input), caller, options)
    assert.ok(isUuid(echoed.requestId) && echoed.action.isWellFormed())
    if ('error' in content) throw content.error
    const result = content.action.params.safeParse(content.params)
    return `${content.action.name} ${result.success ? 'valid' : result.error.issues[0]?.code}`
  },
  isExpected: (error) =>
    isHttpRejection(error) || (error instanceof ActionError && error.code === 'INVALID_REQUEST'),
}

/** Only the owner of the body is read of it. */
const caller = { projectId: 'project', accountId: 'account' } as unknown as KeyIdentity

function requestOf(input: Uint8Array): HttpRequest {
  const headers = { 'content-type': 'application/json' }
  // A copy, because a chunk is released once its bytes are read.
  const stream = Readable.from([Buffer.from(input)])
  const body = createIncomingBody(stream, unlimitedBodyBudget)
  // The other fields are not read with the body.
  return { headers, body, query: new URLSearchParams() } as unknown as HttpRequest
}

/** A first line with the header, then the body. */
export const multipart: FuzzTarget = {
  name: 'multipart',
  seeds: () => {
    const part = 'Content-Disposition: form-data; name="file"; filename="a.jpg"\r\n\r\nbytes\r\n'
    const field = 'Content-Disposition: form-data; name=plain\r\nX: y\r\n\r\nvalue\r\n'
    return seedsOf([
      `multipart/form-data; boundary=b\n--b\r\n${part}--b\r\n${field}--b--\r\n`,
      `multipart/form-data; boundary="q q"\n\r\n--q q\r\n${part}--q q--`,
      `multipart/form-data\n--auto\r\n${part}--auto--`,
    ])
  },
  tokens: ['--b', '\r\n--b\r\n', '\r\n\r\n', '; name=', '"', 'filename*=', 'boundary=', '\0', '--'],
  run: (input) => {
    const end = input.indexOf(10)
    const header = bufferOf(input.subarray(0, Math.max(end, 0))).toString('latin1')
    const files = readMultipartFiles(bufferOf(input.subarray(end + 1)), header)
    for (const content of files.values()) assert.ok(content.length <= input.length)
    return `${files.size} files`
  },
  isExpected: isHttpRejection,
}

const isInvalidRequest = (error: unknown): boolean =>
  error instanceof ActionError && error.code === 'INVALID_REQUEST'

export const query: FuzzTarget = {
  name: 'query',
  seeds: () =>
    seedsOf([
      'limit=2&det_prob_threshold=0.8&face_plugins=age,gender&status=true',
      'page=1&size=20&subject=a%20b',
      'prediction_count=3%3Flimit%3D4&face_plugins=mask',
    ]),
  tokens: ['&', '=', '%3F', '%3D', '%', '+', 'limit=', '1e9', 'Infinity', '0x10', 'face_plugins='],
  run: (input) => {
    const text = textOf(input)
    const page = readQuery(pageQuery, new URLSearchParams(text))
    assert.ok(Number.isInteger(page.page) && page.size >= 1 && page.size <= 1000)
    const image = readQuery(imageQuery, new URLSearchParams(text))
    assert.ok(Number.isInteger(image.limit) && image.prediction_count <= 100)
    return `${image.face_plugins.supported.length} plugins, ${image.status}`
  },
  isExpected: isInvalidRequest,
}

const position = z.tuple([z.string(), z.string()])

export const cursor: FuzzTarget = {
  name: 'cursor',
  seeds: () =>
    seedsOf([packCursor(['2026-01-01T00:00:00.000Z', requestId]), packCursor([]), 'W10']),
  tokens: ['W', '=', '-', '_', 'bnVsbA', 'e30', '\0', packCursor(['', '']), packCursor([1, 'a'])],
  run: (input) => {
    const found = unpackCursor(textOf(input), position)
    if (!found) return 'none'
    assert.deepEqual(unpackCursor(packCursor(found), position), found)
    return `${Math.min(found[0].length, 3)} ${Math.min(found[1].length, 3)}`
  },
  isExpected: isInvalidRequest,
}

export const apiKey: FuzzTarget = {
  name: 'api-key',
  seeds: () =>
    seedsOf([
      appendChecksum(`fsk_live_${'A'.repeat(43)}`),
      appendChecksum(`fsk_test_${'-_9z'.repeat(10)}abc`),
      `fsk_live_${'A'.repeat(49)}`,
    ]),
  tokens: ['fsk_live_', 'fsk_test_', '_', '-', '\n', '\0', '000000', appendChecksum('fsk_live_')],
  run: (input) => {
    const text = textOf(input)
    if (!isApiKey(text)) return /^fsk_(?:live|test)_/u.test(text) ? 'damaged' : 'other'
    assert.equal(text, appendChecksum(text.slice(0, -6)))
    assert.equal(text.length, 58)
    return text.slice(0, 9)
  },
  isExpected: () => false,
}
