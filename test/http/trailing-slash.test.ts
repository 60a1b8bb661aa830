import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { openRawClient } from '../support/network/raw-client.ts'
import { imageParams, startGallery, type TestGallery } from '../support/gallery/test-gallery.ts'

let gallery: TestGallery
before(async () => {
  gallery = await startGallery({ environment: { COMPREFACE_API: 'on' } })
})
after(() => gallery[Symbol.asyncDispose]())

const compreface = '/api/v1/recognition'

const enroll = (name: string) =>
  gallery.value('svc.enroll', { ...imageParams(name), externalId: name, groups: [`of-${name}`] })

/** Sends DELETE to exactly this path. `fetch` keeps repeated slashes. */
async function remove(path: string) {
  const headers = { 'x-api-key': gallery.key }
  const response = await fetch(`${gallery.url}${path}`, { method: 'DELETE', headers })
  return { status: response.status, text: await response.text() }
}

async function subjectNames(): Promise<string[]> {
  const { body } = await gallery.rest('GET', `${compreface}/subjects`)
  return body.subjects.toSorted()
}

test('DELETE of a named resource ignores a slash at the end', async () => {
  for (const name of ['anna', 'ben', 'cleo']) await enroll(name)
  assert.equal((await remove(`${compreface}/subjects/anna/`)).status, 200)
  assert.deepEqual(await subjectNames(), ['ben', 'cleo'])
  const { status, text } = await remove('/v1/groups/of-ben/')
  assert.deepEqual([status, JSON.parse(text).deletedCount], [200, 1])
  assert.deepEqual(await subjectNames(), ['cleo'])
})

test('An empty name after the last slash never deletes a whole collection', async () => {
  for (const name of ['dora', 'emil']) await enroll(name)
  const names = await subjectNames()
  for (const path of [`${compreface}/subjects/`, `${compreface}/faces/`]) {
    const { status, text } = await remove(path)
    assert.equal(status, 404, path)
    assert.match(text, /the name after the last slash is missing\. Send the name or, to delete/u)
  }
  for (const path of ['subjects//', 'faces//', 'subjects///', 'subjects/?x=/', 'faces/?subject='])
    assert.equal((await remove(`${compreface}/${path}`)).status, 404, path)
  for (const [path, status] of [
    ['/v1/groups/', 405],
    ['/v1/groups//', 404],
    ['/v1/groups/?dryRun=false', 405],
    ['/v1/subjects//', 405],
  ] as const)
    assert.equal((await remove(path)).status, status, path)
  assert.deepEqual(await subjectNames(), names)
  assert.equal((await remove(`${compreface}/subjects`)).status, 200)
  assert.deepEqual(await subjectNames(), [])
})

test('A question mark without a parameter deletes nothing', async () => {
  await enroll('gina')
  const names = await subjectNames()
  for (const target of ['subjects?', 'subjects/?', 'faces?', 'faces?&', 'faces?&&', 'faces?=']) {
    const response = await sendRaw('DELETE', `${compreface}/${target}`)
    assert.match(response, /^HTTP\/1\.1 400 /u, target)
  }
  assert.deepEqual(await subjectNames(), names)
  assert.equal((await remove(`${compreface}/subjects/gina`)).status, 200)
})

test('An absolute target with another host than the header Host is refused', async () => {
  for (const [target, status] of [
    ['http://other/v1/me', 400],
    ['HTTPS://user@test/v1/me', 400],
    ['http://TEST/v1/me', 200],
  ] as const)
    assert.match(await sendRaw('GET', target), new RegExp(`^HTTP/1\\.1 ${status} `, 'u'), target)
})

async function sendRaw(method: string, target: string): Promise<string> {
  const raw = await openRawClient(gallery.url)
  const head = `${method} ${target} HTTP/1.1\r\nHost: test\r\nConnection: close\r\n`
  raw.send(`${head}X-Api-Key: ${gallery.key}\r\n\r\n`)
  return raw.readToEnd()
}

test('A number sign in the target of a request deletes nothing', async () => {
  await enroll('finn')
  await gallery.value('svc.enroll', { ...imageParams('one'), externalId: '#1' })
  const names = await subjectNames()
  // HTTP clients of some languages send a number sign in a path as it is; browsers remove it.
  for (const target of ['subjects/#1', 'subjects#finn', 'faces#?subject=finn', 'subjects/finn#']) {
    const response = await sendRaw('DELETE', `${compreface}/${target}`)
    assert.match(response, /^HTTP\/1\.1 400 /u, target)
    assert.match(response, /write # as %23/u)
  }
  assert.deepEqual(await subjectNames(), names)
  assert.equal((await remove(`${compreface}/subjects/%231`)).status, 200)
  assert.deepEqual(await subjectNames(), ['finn'])
})
