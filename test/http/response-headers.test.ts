import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { restRoutes } from '../../src/http/routes/rest-routes.ts'
import { imageParams, startGallery, type TestGallery } from '../support/gallery/test-gallery.ts'

let gallery: TestGallery
before(async () => {
  gallery = await startGallery({ environment: { COMPREFACE_API: 'on' } })
})
after(() => gallery[Symbol.asyncDispose]())

/** Asserts that no cache stores a response, and that no browser guesses its type. */
function assertProtected(name: string, { headers }: { readonly headers: Headers }): void {
  assert.match(headers.get('cache-control') ?? 'absent', /\bno-store\b/u, name)
  assert.equal(headers.get('x-content-type-options'), 'nosniff', name)
}

test('No response of the endpoint, of a route, of CompreFace or of the console is stored', async () => {
  const { call, rest, post } = gallery
  const { subjectId } = await gallery.value('svc.enroll', {
    ...imageParams('Ada'),
    externalId: 'ada',
  })
  assertProtected('svc.detect', await call('svc.detect', imageParams('Ada')))
  assertProtected('an invalid call', await call('svc.detect', {}))
  assertProtected('malformed JSON', await post('{'))
  assertProtected('a wrong key', await gallery.withKey('fsk_live_x').call('svc.detect', {}))
  for (const { method, path } of restRoutes) {
    const url = path.replace(':subjectId', subjectId).replace(':name', 'staff')
    assertProtected(path, await rest(method, url, method === 'POST' ? {} : undefined))
  }
  for (const path of [
    '/api/v1/recognition/subjects',
    '/api/v1/recognition/faces',
    '/api/v1/recognition/faces/7/img',
    '/api/v1/static/key/images/7',
    '/console/v1/session',
    '/console/v1/projects',
    '/no/such/route',
  ])
    assertProtected(
      path,
      await fetch(gallery.url + path, { headers: { 'x-api-key': gallery.key } }),
    )
  assertProtected('a wrong method', await rest('PUT', '/v1/subjects'))
})
