import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { imageParams, startGallery, type TestGallery } from '../support/gallery/test-gallery.ts'

let gallery: TestGallery
before(async () => {
  gallery = await startGallery({ environment: { SUBJECT_TEMPLATES_MAX: '2' } })
})
after(() => gallery[Symbol.asyncDispose]())

const take = (name: string, number: number) =>
  imageParams({ name, deviation: 0.5, take: number }) as { images: object[] }

test('Errors of a conflict, a duplicate and a limit carry the subjectId that they concern', async () => {
  const anna = await gallery.value('svc.enroll', { ...take('anna', 1), externalId: 'a' })
  const ben = await gallery.value('svc.enroll', { ...take('ben', 1), externalId: 'b' })
  const { subjectId } = anna
  const twice = { images: [...take('anna', 1).images], allImages: true }
  const cases: readonly [code: string, subjectId: string, action: string, params: object][] = [
    [
      'EXTERNAL_ID_CONFLICT',
      subjectId,
      'svc.enroll',
      { ...take('anna', 2), externalId: 'a', onExisting: 'reject' },
    ],
    [
      'EXTERNAL_ID_CONFLICT',
      ben.subjectId,
      'svc.enroll',
      { ...take('anna', 2), subjectId, externalId: 'b' },
    ],
    [
      'EXTERNAL_ID_CONFLICT',
      subjectId,
      'svc.enroll',
      { ...take('anna', 2), subjectId, externalId: 'c' },
    ],
    ['EXTERNAL_ID_CONFLICT', ben.subjectId, 'svc.updateSubject', { subjectId, externalId: 'b' }],
    [
      'DUPLICATE_SUBJECT',
      subjectId,
      'svc.enroll',
      { ...take('anna', 2), duplicateCheck: 'reject' },
    ],
    ['SUBJECT_FACE_MISMATCH', subjectId, 'svc.enroll', { ...take('ben', 2), subjectId }],
    ['FACE_ALREADY_ENROLLED', subjectId, 'svc.enroll', { ...twice, subjectId }],
  ]
  for (const [code, expected, action, params] of cases) {
    const { body } = await gallery.call(action, params)
    const [error] = body.errors
    assert.deepEqual([error?.code, error?.subjectId], [code, expected], JSON.stringify(body))
  }
  await gallery.value('svc.enroll', { ...take('anna', 2), subjectId })
  for (const [action, params] of [
    ['svc.enroll', { ...take('anna', 3), subjectId }],
    ['svc.updateSubject', { ...take('anna', 3), subjectId }],
  ] as const) {
    const { body } = await gallery.call(action, params)
    const [error] = body.errors
    assert.deepEqual([error.code, error.subjectId], ['TEMPLATE_LIMIT_REACHED', subjectId])
  }
})
