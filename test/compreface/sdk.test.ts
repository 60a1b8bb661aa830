import assert from 'node:assert/strict'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { after, before, test } from 'node:test'
import sharp from 'sharp'
import {
  samplePhotograph,
  startFacegate,
  type TestFacegate,
} from '../support/facegate/test-facegate.ts'
import { createGalleryClient } from '../support/gallery/test-gallery.ts'
import { unauthorizedMessages } from '../../src/gate/authenticate.ts'

/** The unmodified SDK of CompreFace. These tests are skipped if it is not installed. */
const sdkName = '@exadel/compreface-js-sdk'
const sdk = await loadSdk()
const skip = !sdk && `NOT RUN: ${sdkName} is not installed`

type SdkImage = string | Buffer
type SdkFace = {
  readonly box: Readonly<Record<'probability' | 'x_min' | 'y_min' | 'x_max' | 'y_max', number>>
  readonly age?: { readonly low: number; readonly high: number }
  readonly gender?: { readonly value: string; readonly probability: number }
  readonly landmarks?: readonly (readonly number[])[]
  readonly subjects: readonly { readonly subject: string; readonly similarity: number }[]
  readonly subject: string
  readonly similarity: number
}
type SdkResult = { readonly result: readonly SdkFace[]; readonly plugins_versions?: object }
type SdkExample = { readonly image_id: string; readonly subject: string }

/** The types of the SDK, from its documentation. */
type Sdk = new (
  server: string,
  port: string,
  options?: object,
) => {
  initFaceRecognitionService(key: string): {
    recognize(image: SdkImage, options: object): Promise<SdkResult>
    getFaceCollection(): {
      list(): Promise<{ readonly faces: readonly SdkExample[]; readonly total_elements: number }>
      add(image: SdkImage, subject: string, options?: object): Promise<SdkExample>
      verify(image: SdkImage, imageId: string, options?: object): Promise<SdkResult>
      delete(imageId: string): Promise<SdkExample>
      delete_multiple_images(imageIds: readonly string[]): Promise<readonly SdkExample[]>
      delete_all_subject(subject: string): Promise<{ readonly deleted: number }>
      delete_all(): Promise<{ readonly deleted: number }>
    }
    getSubjects(): {
      list(): Promise<{ readonly subjects: readonly string[] }>
      add(subject: string): Promise<{ readonly subject: string }>
      rename(subject: string, other: string): Promise<{ readonly updated: boolean }>
      delete(subject: string): Promise<{ readonly subject: string }>
      deleteAll(): Promise<{ readonly deleted: number }>
    }
  }
  initFaceDetectionService(key: string): {
    detect(image: SdkImage, options?: object): Promise<SdkResult>
  }
  initFaceVerificationService(key: string): {
    verify(source: SdkImage, target: SdkImage, options?: object): Promise<SdkVerification>
  }
}
type SdkVerification = {
  readonly result: readonly { readonly face_matches: readonly SdkFace[] }[]
}

async function loadSdk(): Promise<Sdk | undefined> {
  try {
    return (await import(sdkName)).CompreFace
  } catch {
    return undefined
  }
}

/** A person cut out of a photograph: unchanged, and as a smaller and darker image. */
type SdkPerson = { readonly file: string; readonly otherImage: Buffer }

let facegate: TestFacegate
let folder: string
let sdkClient: InstanceType<Sdk>
let people: readonly SdkPerson[]

before(async () => {
  if (!sdk) return
  facegate = await startFacegate({ COMPREFACE_API: 'on', VISION_WORKERS: '1' })
  folder = await mkdtemp(path.join(tmpdir(), 'facegate-compreface-'))
  const { protocol, hostname, port } = new URL(facegate.url)
  sdkClient = new sdk(`${protocol}//${hostname}`, port)
  people = [await personOf(1), await personOf(3)]
})
after(async () => {
  if (!sdk) return
  await facegate[Symbol.asyncDispose]()
  await rm(folder, { recursive: true })
})

/** Cuts out the largest face that the SDK detects, with a margin. */
async function personOf(n: 1 | 3): Promise<SdkPerson> {
  const { bytes } = await samplePhotograph(n)
  const { result } = await sdkClient
    .initFaceDetectionService(facegate.key)
    .detect(bytes.toString('base64'), { limit: 1 })
  const [face] = result
  assert.ok(face, 'a face is detected')
  const { x_min: left, y_min: top, x_max, y_max } = face.box
  const [width, height] = [x_max - left, y_max - top]
  const margin = Math.min(Math.round(width / 3), left, top)
  const cutOut = sharp(bytes).extract({
    left: left - margin,
    top: top - margin,
    width: width + 2 * margin,
    height: height + 2 * margin,
  })
  const file = path.join(folder, `${n}.jpg`)
  await writeFile(file, await cutOut.clone().jpeg().toBuffer())
  const jpeg = await cutOut.jpeg().toBuffer()
  const smallerWidth = Math.round((width + 2 * margin) * 0.8)
  const other = await sharp(jpeg)
    .resize(smallerWidth)
    .modulate({ brightness: 0.8 })
    .png()
    .toBuffer()
  // The SDK treats a string that begins with a dot as a path.
  return { file: `./${path.relative('.', file)}`, otherImage: other }
}

test('The SDK adds, lists, recognizes, verifies and deletes faces', { skip }, async () => {
  const service = sdkClient.initFaceRecognitionService(facegate.key)
  const [anna, ben] = people
  assert.ok(anna && ben)
  const added = await service
    .getFaceCollection()
    .add(anna.file, 'anna', { det_prob_threshold: 0.7 })
  assert.equal(added.subject, 'anna')
  const second = await service.getFaceCollection().add(anna.otherImage.toString('base64'), 'anna')
  const ofBen = await service.getFaceCollection().add(ben.file, 'ben')
  const listed = await service.getFaceCollection().list()
  assert.equal(listed.total_elements, 3)
  assert.deepEqual(
    listed.faces.map(({ image_id: id }) => id).toSorted(),
    [added, second, ofBen].map(({ image_id: id }) => id).toSorted(),
  )

  const options = { prediction_count: 1, face_plugins: 'age,gender,landmarks', status: true }
  const { result, plugins_versions: versions } = await service.recognize(anna.otherImage, options)
  assert.equal(result[0]?.subjects[0]?.subject, 'anna')
  assert.ok((result[0]?.age?.high ?? 0) > (result[0]?.age?.low ?? 0))
  assert.match(result[0]?.gender?.value ?? '', /^(?:fe)?male$/u)
  assert.equal(result[0]?.landmarks?.length, 5)
  assert.ok(versions && Object.keys(versions).length > 0)

  const verify = (image: SdkImage, id: string) =>
    service.getFaceCollection().verify(image, id, { limit: 1 })
  assert.ok(((await verify(anna.otherImage, added.image_id)).result[0]?.similarity ?? 0) > 0.9)
  assert.ok(((await verify(ben.file, added.image_id)).result[0]?.similarity ?? 1) < 0.8)

  const { image_id: id } = await service.getFaceCollection().delete(added.image_id)
  assert.equal(id, added.image_id)
  const several = await service.getFaceCollection().delete_multiple_images([second.image_id])
  assert.deepEqual(several, [second])
  assert.deepEqual(await service.getFaceCollection().delete_all_subject('ben'), { deleted: 1 })
  assert.deepEqual(await service.getFaceCollection().delete_all(), { deleted: 0 })
  assert.deepEqual((await service.recognize(anna.file, { limit: 1 })).result[0]?.subjects, [])
})

test('The SDK adds, lists, renames and deletes subjects', { skip }, async () => {
  const service = sdkClient.initFaceRecognitionService(facegate.key)
  assert.deepEqual(await service.getSubjects().add('anna'), { subject: 'anna' })
  await service.getFaceCollection().add(people[0]?.file ?? '', 'anna')
  assert.deepEqual(await service.getSubjects().rename('anna', 'ann'), { updated: true })
  assert.deepEqual(await service.getSubjects().list(), { subjects: ['ann'] })
  assert.deepEqual(await service.getSubjects().delete('ann'), { subject: 'ann' })
  await service.getSubjects().add('x')
  assert.deepEqual(await service.getSubjects().deleteAll(), { deleted: 1 })
})

test('The SDK compares two images as files, base64 and buffers', { skip }, async () => {
  const service = sdkClient.initFaceVerificationService(facegate.key)
  const [anna, ben] = people
  assert.ok(anna && ben)
  const similarityOf = async (source: SdkImage, target: SdkImage) => {
    const { result } = await service.verify(source, target, { limit: 1 })
    return result[0]?.face_matches[0]?.similarity ?? -1
  }
  assert.ok((await similarityOf(anna.file, anna.file)) > 0.9)
  assert.ok((await similarityOf(anna.otherImage, anna.otherImage)) > 0.9)
  const texts = [anna.otherImage, ben.otherImage].map((bytes) => bytes.toString('base64'))
  assert.ok((await similarityOf(texts[0] ?? '', texts[1] ?? '')) < 0.8)
})

test(
  'The SDK detects faces, its deletions have records, and an unknown API key is rejected',
  { skip },
  async () => {
    const { bytes } = await samplePhotograph(1)
    const service = sdkClient.initFaceDetectionService(facegate.key)
    const { result } = await service.detect(bytes.toString('base64'), { limit: 0 })
    assert.ok(result.length > 1)
    const limited = await service.detect(bytes.toString('base64'), { limit: 1 })
    assert.deepEqual(limited.result, result.slice(0, 1))
    const { body } = await createGalleryClient(facegate).rest('GET', '/v1/deletions')
    assert.equal(body.items.length, 4, 'every deletion has a record')
    const unknownKey = sdkClient.initFaceDetectionService('no-key')
    await assert.rejects(unknownKey.detect(bytes.toString('base64')), (error: AxiosFailure) => {
      assert.equal(error.response.status, 401)
      assert.deepEqual(error.response.data, {
        message: unauthorizedMessages.unknown,
        code: 20,
      })
      return true
    })
  },
)

type AxiosFailure = Error & {
  readonly response: { readonly status: number; readonly data: object }
}
