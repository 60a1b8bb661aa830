import assert from 'node:assert/strict'
import { mkdir, mkdtemp, readFile, rm, symlink } from 'node:fs/promises'
import { createRequire } from 'node:module'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { readConfig } from '../../../src/config.ts'
import { systemClock } from '../../../src/lib/clock.ts'
import { createLog, type Log } from '../../../src/lib/log.ts'
import { createRecentProblems } from '../../../src/lib/observability/recent-problems.ts'
import { createFacegate, type Facegate } from '../../../src/start/services.ts'
import { databaseSettings, dropDatabase } from '../database/engine.ts'
import { testModelsFolder } from '../paths.ts'

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

/** The whole service in the test process. */
export type TestFacegate = AsyncDisposable & TestClient & { readonly facegate: Facegate }

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

export async function startFacegate(
  environment: Readonly<Record<string, string>> = {},
  log: Log = createLog(environment['LOG_LEVEL'] ?? 'silent'),
): Promise<TestFacegate> {
  const dataDir = await createDataDir()
  const config = readConfig({
    ...unlimitedRates,
    DATA_DIR: dataDir,
    PORT: '0',
    LOG_LEVEL: 'silent',
    ...(await databaseSettings(dataDir, environment)),
    ...environment,
  })
  const facegate = await createFacegate(config, {
    version: 'test',
    clock: systemClock,
    log,
    recentProblems: createRecentProblems(),
    onProgress: () => {},
  })
  const url = await facegate.server.listen(config.HOST, config.PORT)
  const key = await facegate.createFirstKey()
  assert.ok(key)
  return {
    ...createTestClient(url, key),
    facegate,
    [Symbol.asyncDispose]: async () => {
      await facegate.close()
      await dropDatabase(dataDir)
      await rm(dataDir, { recursive: true, force: true })
    },
  }
}

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

/** Creates a new data folder that uses the models converted by an earlier test run. */
export async function createDataDir(): Promise<string> {
  await mkdir(testModelsFolder, { recursive: true })
  const dataDir = await mkdtemp(path.join(tmpdir(), 'facegate-test-'))
  await symlink(testModelsFolder, path.join(dataDir, 'models'))
  return dataDir
}

export function imageItem({ bytes, contentType }: TestImage): object {
  return { kind: 'image', bytes: bytes.toString('base64'), contentType }
}

/** Returns a photograph from the face-api package: 1920 px wide, three to five people. */
export async function samplePhotograph(n: 1 | 2 | 3 | 4 | 5 | 6): Promise<TestImage> {
  const faceApi = createRequire(import.meta.url).resolve('@vladmandic/face-api/package.json')
  const file = path.join(path.dirname(faceApi), 'demo', `sample${n}.jpg`)
  return { bytes: await readFile(file), contentType: 'image/jpeg' }
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
