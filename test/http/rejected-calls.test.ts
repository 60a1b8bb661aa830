import assert from 'node:assert/strict'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { after, before, test } from 'node:test'
import { updateProject } from '../../src/store/tenancy/projects.ts'
import { imageParams, startGallery, type TestGallery } from '../support/gallery/test-gallery.ts'
import { createTestSteadyClock } from '../support/gate/test-steady-clock.ts'
import { sequentialClients } from '../support/network/sequential-clients.ts'

/** `REJECTED_CALLS=1000` sends as many calls per status and client. */
const count = Number(process.env['REJECTED_CALLS'] ?? 12)
const kibibyte = 1024
const body = Buffer.alloc(190 * kibibyte, ' ')

let gallery: TestGallery
let folder: string
let onAnalyze = (): Promise<void> => Promise.resolve()
before(async () => {
  folder = await mkdtemp(path.join(tmpdir(), 'facegate-clients-'))
  gallery = await startGallery({
    environment: {
      COMPREFACE_API: 'on',
      BODY_BYTES_MAX: String(256 * kibibyte),
      BODIES_PER_PROJECT_BYTES_MAX: String(256 * kibibyte),
      AUTH_FAILURES_PER_S: '10000',
      AUTH_FAILURES_BURST: '100000',
    },
    onAnalyze: () => onAnalyze(),
    // An exhausted rate limit stays exhausted.
    wrapStore: createTestSteadyClock().wrapStore,
  })
})
after(async () => {
  await gallery[Symbol.asyncDispose]()
  await rm(folder, { recursive: true })
})

type Rejection = {
  readonly reason: string
  readonly status: number
  readonly path?: string
  readonly headers?: Readonly<Record<string, string>>
  readonly body?: Buffer
  /** Brings the service into the state in which it rejects the calls. */
  readonly prepare?: () => Promise<AsyncDisposable & { readonly key: string }>
}

const rejections: readonly Rejection[] = [
  { reason: 'a wrong key', status: 401, headers: { 'x-api-key': 'fsk_live_wrong' } },
  { reason: 'a body over the limit', status: 413, body: Buffer.alloc(300 * kibibyte, ' ') },
  { reason: 'a wrong media type', status: 415, headers: { 'content-type': 'text/plain' } },
  {
    reason: 'an exhausted rate limit',
    status: 429,
    path: '/api/v1/recognition/recognize',
    prepare: exhaustRateLimit,
  },
  { reason: 'an exhausted body budget', status: 503, prepare: exhaustBodyBudget },
]

async function exhaustRateLimit() {
  const client = await gallery.createProjectClient({ galleryMode: 'isolated' })
  const { store } = gallery.database
  const { projectId } = client.project
  await updateProject(store.db, projectId, { sustainedPerS: 1, burst: 1 })
  await client.call('svc.detect', {})
  return { key: client.key, [Symbol.asyncDispose]: async () => {} }
}

/** Runs a call with a body of the maximum size, whose image is analyzed until the disposal. */
async function exhaustBodyBudget() {
  const client = await gallery.createProjectClient({ galleryMode: 'isolated' })
  const started = Promise.withResolvers<void>()
  const released = Promise.withResolvers<void>()
  onAnalyze = () => {
    started.resolve()
    return released.promise
  }
  const call = JSON.stringify({ action: 'svc.detect', params: imageParams('anna') })
  const response = client.post(call.padEnd(256 * kibibyte))
  await started.promise
  return {
    key: client.key,
    [Symbol.asyncDispose]: async () => {
      released.resolve()
      await response
    },
  }
}

for (const rejection of rejections)
  for (const client of sequentialClients)
    test(
      `${client.name} receives every ${rejection.status} response: ${rejection.reason}`,
      { skip: client.skip },
      async () => {
        await using prepared = (await rejection.prepare?.()) ?? {
          key: gallery.key,
          [Symbol.asyncDispose]: async () => {},
        }
        const outcomes = await client.send({
          url: `${gallery.url}${rejection.path ?? '/v1/face/execute'}`,
          headers: {
            'x-api-key': prepared.key,
            'content-type': 'application/json',
            ...rejection.headers,
          },
          body: rejection.body ?? body,
          count,
          folder,
        })
        assert.deepEqual(
          outcomes,
          Array.from({ length: count }, () => String(rejection.status)),
        )
      },
    )
