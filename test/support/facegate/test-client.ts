import assert from 'node:assert/strict'
import { setTimeout as sleep } from 'node:timers/promises'

/** A client of the HTTP API. Every response is checked against the rules of its format. */
export type TestClient = {
  readonly url: string
  readonly key: string
  /** Sends a body to `/v1/face/execute`. */
  readonly post: (
    body: unknown,
    headers?: Readonly<Record<string, string>>,
  ) => Promise<TestResponse>
  /** Sends a body in chunks, without a Content-Length. */
  readonly postStream: (body: ReadableStream<Uint8Array>) => Promise<TestResponse>
  /** Calls one action with one image. */
  readonly run: (action: string, image: TestImage, params?: object) => Promise<TestResponse>
}

export type TestResponse = {
  readonly status: number
  readonly headers: Headers
  // The tests read responses of every action.
  // oxlint-disable-next-line typescript/no-explicit-any
  readonly body: any
}

export type TestImage = { readonly bytes: Buffer; readonly contentType: string }

/** Tests send more calls per second than the default limits allow. */
export const unlimitedRates = { RATE_SUSTAINED_PER_S: '10000', RATE_BURST: '100000' }

export function createTestClient(url: string, key: string): TestClient {
  const send = async (
    body: NonNullable<RequestInit['body']>,
    headers: Readonly<Record<string, string>>,
  ) => {
    const response = await fetch(`${url}/v1/face/execute`, {
      method: 'POST',
      headers: { 'x-api-key': key, 'content-type': 'application/json', ...headers },
      body,
      duplex: 'half',
    })
    return validateResponse(response)
  }
  const post: TestClient['post'] = (body, headers = {}) =>
    send(
      typeof body === 'string' || body instanceof Uint8Array ? body : JSON.stringify(body),
      headers,
    )
  return {
    url,
    key,
    post,
    postStream: (body) => send(body, {}),
    run: (action, image, params = {}) =>
      post({ action, params: { images: [imageItem(image)], ...params } }),
  }
}

export function imageItem({ bytes, contentType }: TestImage): object {
  return { kind: 'image', bytes: bytes.toString('base64'), contentType }
}

/** Checks that the response is an envelope with status 200, or `{ detail }` with another status. */
async function validateResponse(response: Response): Promise<TestResponse> {
  const result: TestResponse = {
    status: response.status,
    headers: response.headers,
    body: await response.json(),
  }
  const { body } = result
  if (result.status !== 200) {
    assert.deepEqual(Object.keys(body), ['detail'])
    assert.equal(typeof body.detail, 'string')
    return result
  }
  const names = ['ok', 'requestId', 'action', 'data', 'errors']
  assert.deepEqual(Object.keys(body), 'meta' in body ? [...names, 'meta'] : names)
  assert.equal(body.ok, body.errors.length === 0)
  assert.equal(body.ok, body.data !== null)
  assert.match(body.requestId, /^[0-9a-f-]{36}$/iu)
  assert.equal(response.headers.get('x-request-id'), body.requestId)
  if (body.ok) assert.ok(Array.isArray(body.data.results))
  if ('meta' in body) assert.ok(Object.keys(body.meta).length > 0)
  return result
}

/**
 * Waits before a call that received 503 is repeated. Calls that are repeated at once occupy the
 * processor, and with it the server that they wait for.
 */
export function pauseBeforeRetry(): Promise<void> {
  return sleep(50 + Math.random() * 100)
}

/** Sends a call until its status is not 503. */
export async function repeatWhileBusy(send: () => Promise<TestResponse>): Promise<TestResponse> {
  let response = await send()
  for (; response.status === 503; response = await send()) await pauseBeforeRetry()
  return response
}
