import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { z } from 'zod'
import { createClient as createWebClient } from '../../client/src/index.ts'
import { createClient, type Actions, type ErrorCode } from '../../client/src/node.ts'
import type * as actions from '../../src/actions/index.ts'
import type { ErrorCode as ServedErrorCode } from '../../src/lib/errors.ts'

// The compiler is what runs these tests: `npm run types` fails when one of them does not hold.

type Equal<A, B> =
  (<T>(given: T) => T extends A ? 1 : 2) extends <T>(given: T) => T extends B ? 1 : 2 ? true : false

type DeepReadonly<T> = T extends object ? { readonly [K in keyof T]: DeepReadonly<T[K]> } : T

/** What the schemas of the service take and answer. */
type ServiceActions = {
  [K in keyof typeof actions as (typeof actions)[K]['name']]: {
    params: DeepReadonly<z.input<(typeof actions)[K]['params']>>
    value: z.output<(typeof actions)[K]['value']>
  }
}

test('the types of the contract are those of the schemas, action by action', () => {
  assert.ok(true satisfies Equal<keyof ServiceActions, keyof Actions>)
  type Same = { [K in keyof Actions]: Equal<ServiceActions[K], Actions[K]> }
  assert.ok(true satisfies Equal<Same, { [K in keyof Actions]: true }>)
  assert.ok(true satisfies Equal<ErrorCode, ServedErrorCode>)
})

test('wrong names, types and forms do not compile', () => {
  const options = { baseUrl: 'http://127.0.0.1:1', apiKey: 'k' }
  const facegate = createClient(options)
  const web = createWebClient(options)
  const bytes = new Uint8Array()
  const wrong = [
    // @ts-expect-error a name that no parameter has
    () => facegate.detect(bytes, { maxFace: 3 }),
    // @ts-expect-error a type that the parameter does not have
    () => facegate.detect(bytes, { maxFaces: '3' }),
    // @ts-expect-error a value that the parameter does not have
    () => facegate.enroll(bytes, { onExisting: 'replace' }),
    // @ts-expect-error images come first, never among the parameters
    () => facegate.detect(bytes, { images: [] }),
    // @ts-expect-error no picture
    () => facegate.detect(17),
    // @ts-expect-error a path is nothing to a browser
    () => web.detect('photo.jpg'),
    // @ts-expect-error one subject, by one of its names
    () => facegate.verify(bytes, {}),
    // @ts-expect-error several images have several results
    async () => (await facegate.identify([bytes])).bestMatch,
    // @ts-expect-error a result may have failed
    async () => (await facegate.identify([bytes]))[0]?.value.bestMatch,
    // @ts-expect-error an outcome may be a failure
    async () => (await facegate.try.detect(bytes)).value,
    // @ts-expect-error a field that no answer has
    async () => (await facegate.detect(bytes)).face,
    // @ts-expect-error no such action
    () => facegate.execute('svc.dance', {}),
    // @ts-expect-error parameters of another action
    () => facegate.execute('svc.deleteSubject', { externalId: 'x' }),
    // @ts-expect-error the key is missing
    () => createClient({ baseUrl: 'http://127.0.0.1:1' }),
    // @ts-expect-error the cursor is the iterator's own affair
    () => facegate.subjects.list({ cursor: 'x' }),
  ]
  assert.equal(wrong.length, 15)
})

test('right calls have the types of their answers', () => {
  const facegate = createClient({ baseUrl: 'http://127.0.0.1:1', apiKey: 'k' })
  const picture = { bytes: new Uint8Array(), correlationId: 'a' }
  const right = [
    async (): Promise<number> => (await facegate.detect('photo.jpg', { maxFaces: 3 })).faceCount,
    async (): Promise<string> =>
      (await facegate.enroll(new Blob([]), { groups: ['a'] as const })).subjectId,
    async (): Promise<boolean> => (await facegate.verify(picture, { externalId: 'x' })).matched,
    async (): Promise<boolean> => (await facegate.verify(picture, picture)).matched,
    async (): Promise<string | undefined> =>
      (await facegate.identify(picture)).bestMatch?.displayName ?? undefined,
    async (): Promise<string[]> => {
      const results = await facegate.identify([picture, new ArrayBuffer(0)])
      return results.map((one) => (one.ok ? String(one.value.matched) : one.value.error.code))
    },
    async (): Promise<number | string> => {
      const answer = await facegate.try.detect(new URL('file:///photo.jpg'))
      return answer.ok ? answer.value.faceCount : answer.error.code
    },
    async (): Promise<string> => {
      const { results } = await facegate.execute('svc.deleteSubject', { subjectId: 'x' })
      return results[0].ok ? results[0].value.deletionId : results[0].value.error.message
    },
  ]
  assert.equal(right.length, 8)
})
