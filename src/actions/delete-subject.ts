import { z } from 'zod'
import { defineAction } from './action.ts'
import { subjectNotFound } from './parts/action-errors.ts'
import { deletionExample } from './schemas/examples.ts'
import { subjectId } from './schemas/fields.ts'
import { deletionRecord } from './schemas/subject.ts'

/** Deletes a subject permanently and keeps a record of the deletion. */
export const deleteSubject = defineAction({
  name: 'svc.deleteSubject',
  summary:
    'Delete a subject with all templates, attributes and group memberships. This cannot be undone.',
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
      const subject = (await gallery.find(tx, galleryId, params)) ?? subjectNotFound(params)
      return [{ correlationId: undefined, value: await gallery.remove(tx, subject) }]
    },
    afterCommit: () => gallery.purge(galleryId),
  }),
})
