import { z } from 'zod'
import { defineAction } from './action.ts'
import { subjectId } from './fields.ts'
import { notFound } from './not-found.ts'
import { deletionRecord } from './subject.ts'

/** Deletes a subject for ever; the record of it stays for ever. */
export const deleteSubject = defineAction({
  name: 'svc.deleteSubject',
  summary:
    'Delete a subject: every template, every attribute, every group link. It cannot be undone.',
  price: () => 0,
  params: z.strictObject({ subjectId }).meta({ id: 'DeleteSubjectParams' }),
  value: deletionRecord.extend({}).meta({ id: 'DeleteSubjectValue' }),
  errors: ['SUBJECT_NOT_FOUND'],
  example: {
    params: { subjectId: '0b9f1f9c-2e0e-4a7e-9d57-3c4b8a1d2e3f' },
    value: {
      deletionId: 'd9e0c7a4-6b1f-4f3a-8b55-0f1e2d3c4b5a',
      subjectId: '0b9f1f9c-2e0e-4a7e-9d57-3c4b8a1d2e3f',
      tenantId: '5a0c9d1e-7f3b-4c2a-9e8d-1b2c3d4e5f60',
      groups: ['staff'],
      externalId: 'badge-1042',
      embeddingCount: 2,
      deletedAtUtc: '2026-03-01T12:00:00.000Z',
    },
  },
  run: async ({ params, caller: { galleryId }, services: { gallery } }) => ({
    effect: (tx) => {
      const found = gallery.find(tx, galleryId, params) ?? notFound()
      return [{ correlationId: undefined, value: gallery.remove(tx, found) }]
    },
    afterwards: () => gallery.forget(galleryId),
  }),
})
