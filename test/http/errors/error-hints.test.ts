import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { allActions } from '../../../src/actions/all-actions.ts'
import { toParamsSchema } from '../../../src/actions/schemas/params-schema.ts'
import { startGallery, type TestGallery } from '../../support/gallery/test-gallery.ts'
import { errorsOf, images } from '../../support/wrong-calls/errors-of.ts'

let gallery: TestGallery
before(async () => {
  gallery = await startGallery()
})
after(() => gallery[Symbol.asyncDispose]())

/** Asserts that a text names no parameter that the action lacks, and no other action. */
function assertApplicable(action: string, text: string): void {
  const own = allActions.find(({ name }) => name === action)
  assert.ok(own)
  const names = new Set(Object.keys(toParamsSchema(own).properties))
  const others = allActions.flatMap((one) => Object.keys(toParamsSchema(one).properties))
  for (const name of others)
    if (/[A-Z]/u.test(name) && !names.has(name))
      assert.doesNotMatch(text, new RegExp(`\\b${name}\\b`, 'u'), `${action}: ${text}`)
}

test('The hint of an error names only what its action accepts', async () => {
  const ada = await gallery.value('svc.enroll', { images: images('Ada'), externalId: 'ada' })
  const ben = await gallery.value('svc.enroll', { images: images('Ben'), externalId: 'ben' })
  const { subjectId } = ada
  const calls: readonly (readonly [
    action: string,
    params: object,
    code: string,
    path: string | undefined,
    hint: RegExp,
  ])[] = [
    [
      'svc.updateSubject',
      { subjectId, externalId: 'ben' },
      'EXTERNAL_ID_CONFLICT',
      'params.externalId',
      /^Use another externalId, or remove it from that subject/u,
    ],
    [
      'svc.enroll',
      { images: images('Ada'), externalId: 'ada', onExisting: 'reject' },
      'EXTERNAL_ID_CONFLICT',
      'params.externalId',
      /onExisting "append"/u,
    ],
    [
      'svc.enroll',
      { images: images('Ada'), subjectId, externalId: 'ben' },
      'EXTERNAL_ID_CONFLICT',
      'params.externalId',
      /^Send only the id of the subject/u,
    ],
    [
      'svc.enroll',
      { images: images('Ada'), subjectId, externalId: 'new' },
      'EXTERNAL_ID_CONFLICT',
      'params.externalId',
      /^Send only the subjectId; svc\.updateSubject changes the externalId/u,
    ],
    [
      'svc.updateSubject',
      { subjectId, images: images('Zoe') },
      'SUBJECT_FACE_MISMATCH',
      'params.images[0]',
      /^Check the id of the subject and the picture; send force true if you are certain/u,
    ],
    [
      'svc.enroll',
      { subjectId, images: images('Zoe') },
      'SUBJECT_FACE_MISMATCH',
      'params.images[0]',
      /^Check the id of the subject and the picture; send force true if you are certain/u,
    ],
    [
      'svc.identify',
      { images: images('Ada', 'Zoe'), sameSubject: true },
      'SUBJECT_FACE_MISMATCH',
      'params.images[1]',
      /^Send images of one person, or omit sameSubject/u,
    ],
    [
      'svc.verify',
      { images: images('Ada', 'Zoe'), sameSubject: true, subjectId },
      'SUBJECT_FACE_MISMATCH',
      'params.images[1]',
      /^Send images of one person, or omit sameSubject/u,
    ],
    [
      'svc.identify',
      { images: images('Ada'), allImages: true },
      'INVALID_REQUEST',
      'params.allImages',
      /^Remove the field: svc\.identify searches/u,
    ],
    [
      'svc.liveness',
      { images: images('Ada'), livenessThreshold: 0.5 },
      'INVALID_REQUEST',
      'params.livenessThreshold',
      /^Rename it to threshold/u,
    ],
    [
      'svc.verify',
      { images: images('Ada') },
      'INVALID_REQUEST',
      'params.images',
      /^Add the image to compare with, or send the subjectId or externalId/u,
    ],
    [
      'svc.verify',
      { images: images('Ada', 'Ben'), subjectId },
      'INVALID_REQUEST',
      'params.images',
      /^Remove the second image, or the subject; with sameSubject true/u,
    ],
    [
      'svc.verify',
      { images: images('Ada', 'Ben', 'Zoe') },
      'INVALID_REQUEST',
      'params.images',
      /^Send two images/u,
    ],
    [
      'svc.enroll',
      { images: images('Ben'), duplicateCheck: 'reject', externalId: 'other' },
      'DUPLICATE_SUBJECT',
      undefined,
      /duplicateCheck "report"/u,
    ],
  ]
  assert.notEqual(ben.subjectId, subjectId)
  for (const [action, params, code, path, hint] of calls) {
    const [error] = await errorsOf(gallery, action, params)
    const shown = JSON.stringify([action, error])
    assert.deepEqual([error?.code, error?.path], [code, path], shown)
    assert.match(error?.hint ?? '', hint, shown)
    if (error?.code !== 'INVALID_REQUEST') assertApplicable(action, error?.hint ?? '')
  }
})
