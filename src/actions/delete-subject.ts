import { z } from 'zod'
import { defineAction } from './action.ts'
import { subjectNotFound } from './parts/action-errors.ts'
import { debugOfDatabase } from './parts/response-fields.ts'
import examples from './schemas/examples.json' with { type: 'json' }
import { debug, subjectId } from './schemas/fields.ts'
import { deletionRecord } from './schemas/subject.ts'
import texts from './schemas/field-texts.json' with { type: 'json' }

/** Deletes a subject permanently and keeps a record of the deletion. */
export const deleteSubject = defineAction({
  name: 'svc.deleteSubject',
  summary:
    'Delete a subject with all templates, attributes and group memberships. This cannot be undone.',
  price: () => 0,
  params: z
    .strictObject({
      subjectId: subjectId.describe(texts.deleteSubject.subjectId),
    })
    .meta({
      id: 'DeleteSubjectParams',
      'x-hints': {
        externalId: 'Resolve it to the subjectId with GET /v1/subjects?externalId= first.',
      },
    }),
  value: deletionRecord.extend({ debug }).meta({ id: 'DeleteSubjectValue' }),
  errors: ['SUBJECT_NOT_FOUND'],
  example: examples['svc.deleteSubject'],
  run: async ({
    params,
    debug: isDebug,
    caller: { galleryId },
    services: { subjects, maintenance },
  }) => {
    return {
      effect: async (tx) => {
        const startMs = performance.now()
        await subjects.lock(tx, galleryId, 'exclusive')
        const subject = (await subjects.find(tx, galleryId, params)) ?? subjectNotFound(params)
        const record = await subjects.remove(tx, subject)
        const value = { ...record, ...debugOfDatabase(isDebug, performance.now() - startMs) }
        return [{ correlationId: undefined, value }]
      },
      afterCommit: () => maintenance.purge(galleryId),
    }
  },
})
