import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { test } from 'node:test'
import sharp from 'sharp'
import { project } from '../../../src/cli/tenancy/commands.ts'
import { createSetupLink } from '../../../src/console/auth/setup.ts'
import { openStore } from '../../../src/store/open-store.ts'
import { runJson } from '../../support/cli/run-json.ts'
import { assertOk, createConsoleClient, validPassword } from '../../support/console/test-console.ts'
import { samplePortrait } from '../../support/facegate/sample-portrait.ts'
import { imageItem, startFacegate, type TestImage } from '../../support/facegate/test-facegate.ts'
import { createGalleryClient } from '../../support/gallery/test-gallery.ts'

const imagesOf = (bytes: Buffer, contentType: TestImage['contentType']) => ({
  images: [imageItem({ bytes, contentType })],
})

test('The kept picture of a near miss of a photograph shows the face that was not matched', async () => {
  await using service = await startFacegate()
  const { dataDir, url } = service
  const client = createGalleryClient(service)
  const store = await openStore(dataDir)
  const token = await store.write((tx) => createSetupLink(tx, null, Date.now()))
  await store.close()
  const owner = createConsoleClient(url)
  assertOk(await owner.send('POST', '/setup', { token, name: 'Olga', password: validPassword }))
  await runJson(dataDir, project, 'set default --near-miss-crops 1')
  const portrait = await samplePortrait()
  const { subjectId } = await client.value('svc.enroll', imagesOf(portrait, 'image/png'))
  const blurred = await sharp(portrait).flop().blur(2).jpeg({ quality: 60 }).toBuffer()
  const picture = imagesOf(blurred, 'image/jpeg')
  const params = { ...picture, subjectId }
  const { similarity } = await client.value('svc.verify', { ...params, threshold: 0 })
  assert.ok(similarity < 1, 'another picture of the person')
  const threshold = Math.min(1, similarity + 0.03)
  const requestId = randomUUID()
  const missed = await client.value('svc.verify', { ...params, threshold }, { requestId })
  assert.equal(missed.matched, false)
  const { body } = assertOk(await owner.get(`/log?requestId=${requestId}`))
  const { callId } = body.items[0]
  const shown = assertOk(await owner.send('POST', `/log/${callId}/picture`))
  const jpeg = Buffer.from(shown.body.jpeg, 'base64')
  const { format, width, height } = await sharp(jpeg).metadata()
  assert.deepEqual([format, width === height, (width ?? 999) <= 320], ['jpeg', true, true])
  const again = await client.value('svc.verify', { ...imagesOf(jpeg, 'image/jpeg'), subjectId })
  assert.ok(again.similarity > 0.9, `${again.similarity}`)
})
