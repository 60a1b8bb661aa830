import assert from 'node:assert/strict'
import { existsSync, readdirSync } from 'node:fs'
import { readFile } from 'node:fs/promises'
import path from 'node:path'
import { test } from 'node:test'
import { galleryClient } from './gallery.ts'
import { imageItem, samplePhotograph, startFacegate } from './facegate.ts'

const people = path.join(import.meta.dirname, '../../shared/eval-data/verification/images')
/** Everybody takes a minute or two; some dozens are enough for every day. */
const peopleMax = Number(process.env['FACEGATE_TEST_PEOPLE'] ?? 60)

async function shown(...file: string[]): Promise<object> {
  const bytes = await readFile(path.join(people, ...file))
  return { images: [imageItem({ bytes, contentType: 'image/jpeg' })] }
}

/** People with two pictures; some show others beside them, so that the largest face counts. */
function twice(): { readonly name: string; readonly pictures: readonly string[] }[] {
  return readdirSync(people)
    .map((name) => ({ name, pictures: readdirSync(path.join(people, name)).sort() }))
    .filter(({ pictures }) => pictures.length >= 2)
}

test('a photograph is enrolled, found again and compared', async () => {
  await using facegate = await startFacegate({ VISION_WORKERS: '1' })
  const client = galleryClient(facegate)
  const picture = { images: [imageItem(await samplePhotograph(3))], facePolicy: 'largest' }
  const made = await client.value('svc.enroll', { ...picture, externalId: 'one' })
  const seen = await client.value('svc.identify', picture)
  assert.equal(seen.bestMatch.subjectId, made.subjectId)
  assert.ok(seen.bestMatch.similarity > 0.99)
  const same = await client.value('svc.verify', { ...picture, externalId: 'one' })
  assert.ok(same.similarity > 0.99)
})

test(
  'of people enrolled with one picture, the other finds nearly all, within their group or without',
  { skip: !existsSync(people) && 'the evaluation data is not here' },
  async () => {
    await using facegate = await startFacegate({
      QUEUE_WAIT_MS_MAX: '60000',
      STARTER_CREDIT_MICROS: '1000000000',
    })
    const client = galleryClient(facegate)
    const all = twice()
    const step = Math.max(1, all.length / peopleMax)
    const chosen = all.filter((_, at) => Math.floor(at / step) !== Math.floor((at - 1) / step))
    for (const { name, pictures } of chosen) {
      const params = { ...(await shown(name, pictures[0] ?? '')), facePolicy: 'largest' }
      const enrolment = { ...params, externalId: name, groups: ['seen'], minQuality: 0 }
      await client.value('svc.enroll', enrolment)
    }
    for (const filter of [{}, { groups: ['seen'] }]) {
      let found = 0
      for (const { name, pictures } of chosen) {
        const params = { ...(await shown(name, pictures[1] ?? '')), threshold: 0.5, ...filter }
        const { faces, threshold } = await client.value('svc.identify', params)
        if (faces[0].candidates[0]?.externalId === name) found++
        for (const { similarity } of faces[0].candidates) assert.ok(similarity >= threshold)
      }
      assert.ok(found / chosen.length >= 0.97, `${found} of ${chosen.length}`)
    }
  },
)
