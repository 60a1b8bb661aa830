import assert from 'node:assert/strict'
import { existsSync, readdirSync } from 'node:fs'
import { readFile } from 'node:fs/promises'
import path from 'node:path'
import { test } from 'node:test'
import { createGalleryClient } from '../support/gallery/test-gallery.ts'
import { imageItem, samplePhotograph, startFacegate } from '../support/facegate/test-facegate.ts'
import { evalDataFolder } from '../support/paths.ts'

const peopleFolder = path.join(evalDataFolder, 'verification/images')

async function imageParamsOf(...file: string[]): Promise<object> {
  const bytes = await readFile(path.join(peopleFolder, ...file))
  return { images: [imageItem({ bytes, contentType: 'image/jpeg' })] }
}

function peopleWithTwoImages(): { readonly name: string; readonly files: readonly string[] }[] {
  return readdirSync(peopleFolder)
    .map((name) => ({ name, files: readdirSync(path.join(peopleFolder, name)).sort() }))
    .filter(({ files }) => files.length >= 2)
}

test('A photograph is enrolled, identified and verified', async () => {
  await using facegate = await startFacegate({ VISION_WORKERS: '1' })
  const client = createGalleryClient(facegate)
  const photograph = { images: [imageItem(await samplePhotograph(3))], facePolicy: 'largest' }
  const enrolled = await client.value('svc.enroll', { ...photograph, externalId: 'one' })
  const identified = await client.value('svc.identify', photograph)
  assert.equal(identified.bestMatch.subjectId, enrolled.subjectId)
  assert.ok(identified.bestMatch.similarity > 0.99)
  const verified = await client.value('svc.verify', { ...photograph, externalId: 'one' })
  assert.ok(verified.similarity > 0.99)
})

type IdentifiedFace = {
  readonly boundingBox: { left: number; top: number; width: number; height: number }
  readonly candidates: readonly { readonly externalId: string; readonly similarity: number }[]
}

/**
 * The set names the person nearest to the center of an image. In three of its 163 probes another
 * face is larger. The service prefers the largest face, so the test reports both rates.
 */
function faceNearestCenter(
  faces: readonly IdentifiedFace[],
  image: { width: number; height: number },
) {
  const centerDistance = ({ boundingBox: { left, top, width, height } }: IdentifiedFace): number =>
    Math.hypot(left + width / 2 - image.width / 2, top + height / 2 - image.height / 2)
  return faces.toSorted((a, b) => centerDistance(a) - centerDistance(b))[0]
}

test(
  'At least 97 % of people enrolled with one image are found with another, with and without a group filter',
  { skip: !existsSync(peopleFolder) && 'the evaluation data is not installed' },
  async (t) => {
    await using facegate = await startFacegate({
      VISION_QUEUE_WAIT_MS_MAX: '60000',
      STARTER_CREDIT_MICROS: '1000000000',
    })
    const client = createGalleryClient(facegate)
    const people = peopleWithTwoImages()
    for (const { name, files } of people) {
      const params = { ...(await imageParamsOf(name, files[0] ?? '')), facePolicy: 'largest' }
      const enrollment = { ...params, externalId: name, groups: ['enrolled'], minQuality: 0 }
      await client.value('svc.enroll', enrollment)
    }
    for (const filter of [{}, { groups: ['enrolled'] }]) {
      let [correctByCenter, correctByLargest] = [0, 0]
      for (const { name, files } of people) {
        const params = {
          ...(await imageParamsOf(name, files[1] ?? '')),
          threshold: 0.5,
          maxFaces: 20,
        }
        const value = await client.value('svc.identify', { ...params, ...filter })
        const faces: readonly IdentifiedFace[] = value.faces
        const centerFace = faceNearestCenter(faces, value.image)
        if (faces[0]?.candidates[0]?.externalId === name) correctByLargest++
        if (centerFace?.candidates[0]?.externalId === name) correctByCenter++
        for (const { similarity } of faces.flatMap(({ candidates }) => candidates))
          assert.ok(similarity >= value.threshold)
      }
      const total = people.length
      t.diagnostic(
        `rank-1: ${correctByCenter} of ${total} by center face, ${correctByLargest} by largest face`,
      )
      assert.ok(correctByCenter / total >= 0.97, `${correctByCenter} of ${total}`)
    }
  },
)
