import { imageParams } from '../gallery/test-gallery.ts'
import { assertOk, type TestConsole } from './test-console.ts'

const turnstileCount = 4
const branchCount = 6

/** More keys than a chart has colours. */
export const variedKeyCount = turnstileCount + branchCount

/**
 * Sends calls with keys that have long names, and calls that fail with different codes. Creates projects,
 * one without a budget, so that each card of the overview has more elements than it shows.
 */
export async function sendVariedCalls({ owner, gallery, projectId }: TestConsole): Promise<void> {
  const micros = { note: 'test', amountMicros: '2000000' }
  assertOk(await owner.send('POST', '/money/top-up', micros))
  assertOk(await owner.send('POST', '/money/allocate', { projectId, amountMicros: '50000' }))
  for (let index = 0; index < branchCount; index++) {
    const branch = { name: `Branch ${index}`, galleryMode: 'isolated' }
    const { projectId: branchId } = assertOk(await owner.send('POST', '/projects', branch)).body
    const funds = { projectId: branchId, amountMicros: '10000' }
    assertOk(await owner.send('POST', '/money/allocate', funds))
    const key = { projectId: branchId, name: `Branch ${index}`, permissions: ['*'] }
    const client = gallery.withKey(assertOk(await owner.send('POST', '/keys', key)).body.key)
    await client.call('svc.enroll', imageParams('anna'))
  }
  assertOk(await owner.send('POST', '/projects', { name: 'Archive', galleryMode: 'isolated' }))
  for (let index = 0; index < turnstileCount; index++) {
    const name = `Turnstile ${index} of the main entrance, Kirchenstrasse_${'x'.repeat(24)}`
    const permissions = index === 1 ? ['svc.detect'] : ['*']
    const key = { projectId, name, permissions }
    const client = gallery.withKey(assertOk(await owner.send('POST', '/keys', key)).body.key)
    await client.call('svc.detect', imageParams('anna'))
    if (index === 1) await client.call('svc.verify', { mode: 'imageToImage', ...twoImages() })
    if (index > 0) continue
    await client.call('svc.verify', { mode: 'imageToImage', ...twoImages() })
    for (const [action, params] of failingCalls) await client.call(action, params)
  }
}

function twoImages(): object {
  const images = [imageParams('anna'), imageParams({ name: 'anna', take: 2 })].flatMap(
    (params) => (params as { readonly images: readonly object[] }).images,
  )
  return { images }
}

const unknownId = '00000000-0000-4000-8000-000000000000'

const failingCalls: readonly (readonly [string, object])[] = [
  ['svc.detect', imageParams()],
  ['svc.detect', { maxFaces: 0 }],
  ['svc.deleteSubject', { subjectId: unknownId }],
  ['svc.identify', { ...imageParams('anna'), groups: ['nowhere'] }],
  ['svc.enroll', { ...imageParams('anna', 'berta'), facePolicy: 'strict' }],
  ['svc.enroll', { ...imageParams({ name: 'anna', quality: 5 }), minQuality: 90 }],
]
