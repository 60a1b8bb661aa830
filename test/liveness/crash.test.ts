import assert from 'node:assert/strict'
import { once } from 'node:events'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { test } from 'node:test'
import { dropDatabase } from '../support/database/engine.ts'
import { frameImages, framesOf } from '../support/gallery/challenge-frames.ts'
import { killGalleryProcess, startGalleryProcess } from '../support/gallery/gallery-process.ts'
import { startGallery, type GalleryClient } from '../support/gallery/test-gallery.ts'

/** Calls of one kind that use something once. */
type SingleUse = {
  readonly action: string
  /** Creates what the call uses, and returns the parameters of the call. */
  readonly prepare: (client: GalleryClient) => Promise<object>
  /** The code of a further use. */
  readonly spentCode: string
}

async function answerToChallenge(client: GalleryClient) {
  const { body } = await client.rest('POST', '/v1/liveness/sessions', { steps: 2 })
  return {
    livenessSessionId: body.sessionId,
    images: frameImages(framesOf(body.steps, {}, body.angles)),
  }
}

const uses: Readonly<Record<'session' | 'reference frame', SingleUse>> = {
  session: {
    action: 'svc.liveness',
    prepare: answerToChallenge,
    spentCode: 'LIVENESS_SESSION_NOT_FOUND',
  },
  'reference frame': {
    action: 'svc.enroll',
    prepare: async (client) => {
      const answer = await answerToChallenge(client)
      await client.value('svc.liveness', answer)
      return { livenessSessionId: answer.livenessSessionId }
    },
    spentCode: 'LIVENESS_FAILED',
  },
}

for (const [name, { action, prepare, spentCode }] of Object.entries(uses))
  for (const hangBefore of ['settle', 'respond'] as const)
    test(`After kill -9 before the step ${hangBefore}, a ${name} is ${hangBefore === 'settle' ? 'unused and can be used once' : 'spent'}`, async () => {
      const dataDir = await mkdtemp(path.join(tmpdir(), 'facegate-liveness-'))
      try {
        let params: object = {}
        let key = ''
        {
          await using gallery = await startGallery({ dataDir })
          params = await prepare(gallery)
          key = gallery.key
        }
        const server = await startGalleryProcess(dataDir, key, { hangBefore })
        assert.ok(server.process.stdout)
        const hanging = once(server.process.stdout, 'data')
        const lost = server.client.call(action, params).catch(() => undefined)
        await hanging
        await killGalleryProcess(server)
        assert.equal(await lost, undefined, 'the call got no response')
        await using gallery = await startGallery({ dataDir, key })
        const codes: string[] = []
        for (let index = 0; index < 3; index++) {
          const { body } = await gallery.call(action, params)
          codes.push(body.errors[0]?.code ?? 'OK')
        }
        const first = hangBefore === 'settle' ? 'OK' : spentCode
        assert.deepEqual(codes, [first, spentCode, spentCode])
      } finally {
        await dropDatabase(dataDir)
        await rm(dataDir, { recursive: true, force: true })
      }
    })
