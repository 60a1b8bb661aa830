import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { z } from 'zod'
import { createClient as createWebClient } from '../../client/src/index.ts'
import { createClient, type Actions, type ErrorCode } from '../../client/src/node.ts'
import type * as actions from '../../src/actions/index.ts'
import type { ErrorCode as ServedErrorCode } from '../../src/lib/errors.ts'

// The compiler runs these tests: `npm run types` fails if one of them is violated.

type Equal<A, B> =
  (<T>(value: T) => T extends A ? 1 : 2) extends <T>(value: T) => T extends B ? 1 : 2 ? true : false

type DeepReadonly<T> = T extends object ? { readonly [K in keyof T]: DeepReadonly<T[K]> } : T

type OptionalFields<T> = { [K in keyof T]?: T[K] | undefined }

/** The parameters and values in the schemas of the service. */
type ServiceActions = {
  [K in keyof typeof actions as (typeof actions)[K]['name']]: {
    params: DeepReadonly<z.input<(typeof actions)[K]['params']>>
    value: z.output<(typeof actions)[K]['value']>
  }
}

test('The contract has the same types as the schemas, for every action', () => {
  assert.ok(true satisfies Equal<keyof ServiceActions, keyof Actions>)
  // In a request, a liveness session can replace the images; the action adds its frame.
  type WithSession<Name extends keyof Actions> = Name extends 'svc.enroll' | 'svc.verify'
    ? {
        params: OptionalFields<ServiceActions[Name]['params']>
        value: ServiceActions[Name]['value']
      }
    : ServiceActions[Name]
  type Same = { [K in keyof Actions]: Equal<WithSession<K>, Actions[K]> }
  assert.ok(true satisfies Equal<Same, { [K in keyof Actions]: true }>)
  assert.ok(true satisfies Equal<ErrorCode, ServedErrorCode>)
})

test('Wrong names and types do not compile', () => {
  const options = { baseUrl: 'http://127.0.0.1:1', apiKey: 'k' }
  const facegate = createClient(options)
  const web = createWebClient(options)
  const bytes = new Uint8Array()
  const wrong = [
    // @ts-expect-error an unknown parameter
    () => facegate.detect(bytes, { maxFace: 3 }),
    // @ts-expect-error a wrong type of a parameter
    () => facegate.detect(bytes, { maxFaces: '3' }),
    // @ts-expect-error an unknown value of a parameter
    () => facegate.enroll(bytes, { onExisting: 'replace' }),
    // @ts-expect-error images are the first argument, not a parameter
    () => facegate.detect(bytes, { images: [] }),
    // @ts-expect-error a number is not an image
    () => facegate.detect(17),
    // @ts-expect-error a browser cannot read a path
    () => web.detect('photo.jpg'),
    // @ts-expect-error the id of the subject is missing
    () => facegate.verify(bytes, {}),
    // @ts-expect-error both ids of the subject
    () => facegate.verify(bytes, { subjectId: 'a', externalId: 'b' }),
    // @ts-expect-error several images cannot be compared with another image
    () => facegate.verify([bytes], bytes),
    // @ts-expect-error one merged probe has one result
    async () => (await facegate.identify([bytes], { sameSubject: true }))[0],
    // @ts-expect-error several images have several results
    async () => (await facegate.identify([bytes])).bestMatch,
    // @ts-expect-error a result may have failed
    async () => (await facegate.identify([bytes]))[0]?.value.bestMatch,
    // @ts-expect-error an outcome may be a failure
    async () => (await facegate.try.detect(bytes)).value,
    // @ts-expect-error a field that the value does not have
    async () => (await facegate.detect(bytes)).face,
    // @ts-expect-error several images have several results
    async () => (await facegate.detect([bytes])).faceCount,
    // @ts-expect-error a result may have failed
    async () => (await facegate.analyze([bytes]))[0]?.value.faces,
    // @ts-expect-error the number of results depends on the value of the flag
    async (flag: boolean) => facegate.identify([bytes], { sameSubject: flag }),
    // @ts-expect-error several images are enrolled as templates of one subject
    () => facegate.enroll([bytes], { allImages: false }),
    // @ts-expect-error no such action
    () => facegate.execute('svc.dance', {}),
    // @ts-expect-error parameters of another action
    () => facegate.execute('svc.deleteSubject', { displayName: 'x' }),
    // @ts-expect-error the key is missing
    () => createClient({ baseUrl: 'http://127.0.0.1:1' }),
    // @ts-expect-error the iterator manages the cursor
    () => facegate.subjects.list({ cursor: 'x' }),
  ]
  assert.equal(wrong.length, 22)
})

test('Correct calls compile and have the types of their results', () => {
  const facegate = createClient({ baseUrl: 'http://127.0.0.1:1', apiKey: 'k' })
  const image = { bytes: new Uint8Array(), correlationId: 'a' }
  const right = [
    async (): Promise<number> => (await facegate.detect('photo.jpg', { maxFaces: 3 })).faceCount,
    async (): Promise<string> =>
      (await facegate.enroll(new Blob([]), { groups: ['a'] as const })).subjectId,
    async (): Promise<boolean> => (await facegate.verify(image, { externalId: 'x' })).matched,
    async (): Promise<boolean> => (await facegate.verify(image, image)).matched,
    async (): Promise<boolean> =>
      (await facegate.verify([image, image], { subjectId: 'x' })).matched,
    async (): Promise<boolean> => (await facegate.identify([image], { sameSubject: true })).matched,
    async (): Promise<number> => (await facegate.enroll([image, 'photo.jpg'])).embeddingCount,
    async (): Promise<string | undefined> =>
      (await facegate.identify(image)).bestMatch?.displayName ?? undefined,
    async (): Promise<string[]> => {
      const results = await facegate.identify([image, new ArrayBuffer(0)])
      return results.map((item) => (item.ok ? String(item.value.matched) : item.value.error.code))
    },
    async (): Promise<boolean> =>
      (await facegate.verify([image, image], { subjectId: 'x' }, { sameSubject: true })).matched,
    async (): Promise<(number | string)[]> => {
      const results = await facegate.detect([image, 'photo.jpg'], { maxFaces: 3 })
      return results.map((item) => (item.ok ? item.value.faceCount : item.value.error.code))
    },
    async (): Promise<number | string> => {
      const outcome = await facegate.try.detect(new URL('file:///photo.jpg'))
      return outcome.ok ? outcome.value.faceCount : outcome.error.code
    },
    async (): Promise<string> => {
      const { results } = await facegate.execute('svc.deleteSubject', { subjectId: 'x' })
      return results[0].ok ? results[0].value.deletionId : results[0].value.error.message
    },
  ]
  assert.equal(right.length, 13)
})
