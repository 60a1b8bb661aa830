import { z } from 'zod'
import { defineAction } from './action.ts'
import { subjectNotFound } from './parts/action-errors.ts'
import { debugOfDatabase } from './parts/response-fields.ts'
import { requireOneId, subjectLookup } from './parts/subject-lookup.ts'
import { deletionExample } from './schemas/examples.ts'
import { debug, externalId, subjectId } from './schemas/fields.ts'
import { deletionRecord } from './schemas/subject.ts'

/** Deletes a subject permanently and keeps a record of the deletion. */
export const deleteSubject = defineAction({
  name: 'svc.deleteSubject',
  summary:
    'Delete a subject with all templates, attributes and group memberships. This cannot be undone.',
  price: () => 0,
  params: z
    .strictObject({
      subjectId: subjectId.optional().meta({
        description:
          'The id that svc.enroll returned. Exactly one of subjectId and externalId is required.',
      }),
      externalId: externalId.optional(),
    })
    .meta({ id: 'DeleteSubjectParams' }),
  value: deletionRecord.extend({ debug }).meta({ id: 'DeleteSubjectValue' }),
  errors: ['SUBJECT_NOT_FOUND'],
  example: {
    params: { subjectId: deletionExample.subjectId },
    value: deletionExample,
  },
  run: async ({
    params,
    debug: isDebug,
    caller: { galleryId },
    services: { subjects, maintenance },
  }) => {
    requireOneId(params)
    const lookup = subjectLookup(params)
    return {
      effect: async (tx) => {
        const startMs = performance.now()
        await subjects.lock(tx, galleryId, 'exclusive')
        const subject = (await subjects.find(tx, galleryId, lookup)) ?? subjectNotFound(lookup)
        const record = await subjects.remove(tx, subject)
        const value = { ...record, ...debugOfDatabase(isDebug, performance.now() - startMs) }
        return [{ correlationId: undefined, value }]
      },
      afterCommit: () => maintenance.purge(galleryId),
    }
  },
})
