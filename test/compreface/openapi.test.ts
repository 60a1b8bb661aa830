import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { z } from 'zod'
import { allActions } from '../../src/actions/all-actions.ts'
import { compreFaceRouteList, comprefaceRoutes } from '../../src/compreface/compreface-routes.ts'
import compreFaceApi from '../../src/compreface/openapi.json' with { type: 'json' }
import { openApiDocument } from '../../src/http/openapi/openapi.ts'
import { toOpenApiPath } from '../../src/http/openapi/paths.ts'
import { fakeImageFile, sendCompreFace } from '../support/compreface/send.ts'
import { startGallery, type TestGallery } from '../support/gallery/test-gallery.ts'

type DocumentNode = { readonly [key: string]: DocumentNode }

/** The document of a service with the routes, as clients receive it. */
const document = JSON.parse(
  JSON.stringify(openApiDocument('test', {}, { optionalRoutes: [compreFaceApi] })),
) as DocumentNode

let gallery: TestGallery
before(async () => {
  gallery = await startGallery({ environment: { COMPREFACE_API: 'on' } })
})
after(() => gallery[Symbol.asyncDispose]())

/** Checks a response against the schema of its status. */
function assertDescribed(
  method: string,
  path: string,
  { status, body }: { readonly status: number; readonly body: unknown },
): void {
  const responses = document['paths']?.[path]?.[method.toLowerCase()]?.['responses']
  const response = responses?.[String(status)] ?? (status >= 400 ? responses?.['default'] : {})
  const schema = response?.['content']?.['application/json']?.['schema']
  assert.ok(schema, `${method} ${path} ${status}`)
  const complete = { ...schema, $defs: document['components']?.['schemas'] }
  const text = JSON.stringify(complete).replaceAll('#/components/schemas/', '#/$defs/')
  const validator = z.fromJSONSchema(JSON.parse(text) as z.core.JSONSchema.JSONSchema)
  const result = validator.safeParse(body)
  assert.ok(result.success, `${method} ${path}: ${result.error}\n${JSON.stringify(body)}`)
}

test('The description of a route contains all permissions of its calls', () => {
  for (const [path, method, ...permissions] of [
    ['/api/v1/recognition/subjects', 'delete', 'svc.deleteSubject', 'groups:delete'],
    ['/api/v1/recognition/faces', 'delete', 'svc.deleteSubject', 'groups:delete'],
    ['/api/v1/recognition/subjects/{subject}', 'put', 'svc.updateSubject', 'svc.deleteSubject'],
  ] as const) {
    const text = JSON.stringify(document['paths']?.[path]?.[method]?.['description'])
    for (const permission of permissions) assert.ok(text.includes(`\`${permission}\``), text)
  }
})

test('The description of a route states its status, its permissions and its price', () => {
  for (const { method, path, status, ...route } of compreFaceRouteList) {
    const known = route.known?.({ queryText: '' })
    const operation = document['paths']?.[toOpenApiPath(path)]?.[method.toLowerCase()]
    if (!operation) continue
    assert.ok(operation['responses']?.[String(status)], path)
    const text = JSON.stringify(operation['description'])
    for (const permission of known?.permissions ?? []) assert.ok(text.includes(permission), path)
    const action = allActions.find(({ name }) => name === known?.name)
    assert.match(text, action ? new RegExp(`Costs ${action.price(1)} units`, 'u') : /Free/u, path)
  }
})

test('The document describes every route of CompreFace that can succeed', () => {
  const options = {} as Parameters<typeof comprefaceRoutes>[0]
  const served = comprefaceRoutes(options).map(
    ({ method, path }) => `${method} ${toOpenApiPath(path)}`,
  )
  const unavailable = /\/img$|\/embeddings\/|\/static\//u
  const described = Object.entries(document['paths'] ?? {}).flatMap(([path, operations]) =>
    Object.keys(operations).map((method) => `${method.toUpperCase()} ${path}`),
  )
  const ofCompreFace = described.filter((route) => route.includes(' /api/v1/'))
  assert.deepEqual(
    ofCompreFace.toSorted(),
    served.filter((route) => !unavailable.test(route)).toSorted(),
  )
  const ids = Object.values(document['paths'] ?? {}).flatMap((path) =>
    Object.values(path).map(({ operationId }) => operationId),
  )
  assert.equal(new Set(ids).size, ids.length)
})

test('Real responses match the description, failures included', async () => {
  const client = await gallery.createProjectClient({ galleryMode: 'isolated' })
  const send = async (method: string, path: string, sent?: object, query = '') => {
    const target = path.replace('{image_id}', imageId).replace('{subject}', 'anna')
    const response = await sendCompreFace(client, method, target + query, sent)
    assertDescribed(method, path, response)
    return response
  }
  let imageId = crypto.randomUUID() as string
  const [faces, subjects] = ['/api/v1/recognition/faces', '/api/v1/recognition/subjects']
  const image = fakeImageFile('anna')
  imageId = (await send('POST', faces, image, '?subject=anna')).body.image_id
  const options = '?face_plugins=pose,landmarks,mask&status=true'
  await send('POST', '/api/v1/recognition/recognize', image, options)
  await send('POST', '/api/v1/detection/detect', image, options)
  await send('POST', `${faces}/{image_id}/verify`, image, options)
  const pair = { source_image: image.file, target_image: image.file }
  await send('POST', '/api/v1/verification/verify', pair, options)
  await send('POST', '/api/v1/verification/verify', {})
  await send('GET', faces)
  await send('GET', faces, undefined, '?size=0')
  await send('POST', subjects, { subject: 'ben' })
  await send('GET', subjects)
  await send('PUT', `${subjects}/{subject}`, { subject: 'anna' })
  await send('POST', `${faces}/delete`, [crypto.randomUUID()])
  await send('DELETE', `${faces}/{image_id}`)
  await send('DELETE', `${faces}/{image_id}`)
  await send('DELETE', `${subjects}/{subject}`)
  await send('DELETE', faces, undefined, '?subject=ben')
  await send('DELETE', faces)
  await send('DELETE', subjects)
})
