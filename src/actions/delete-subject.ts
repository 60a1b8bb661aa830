import { z } from 'zod'
import { defineAction } from './action.ts'
import { deletionExample } from './schemas/examples.ts'
import { subjectId } from './schemas/fields.ts'
import { subjectNotFound } from './parts/subject-not-found.ts'
import { deletionRecord } from './schemas/subject.ts'

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
    params: { subjectId: deletionExample.subjectId },
    value: deletionExample,
  },
  run: async ({ params, caller: { galleryId }, services: { gallery } }) => ({
    effect: async (tx) => {
      await gallery.lock(tx, galleryId, 'exclusive')
      const found = (await gallery.find(tx, galleryId, params)) ?? subjectNotFound()
      return [{ correlationId: undefined, value: await gallery.remove(tx, found) }]
    },
    afterCommit: () => gallery.purge(galleryId),
  }),
})
