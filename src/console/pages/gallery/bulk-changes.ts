import { z } from 'zod'
import { groupName } from '../../../actions/schemas/fields.ts'
import { deletionRecord } from '../../../actions/schemas/subject.ts'
import { ActionError } from '../../../lib/errors.ts'
import { mapSequential } from '../../../lib/account-context.ts'
import { lockGallery } from '../../../store/gallery/galleries.ts'
import type { SubjectRow } from '../../../store/gallery-schema.ts'
import type { Tx } from '../../../store/database.ts'
import { requireProject } from '../../server/require-project.ts'
import { defineWrite, type ConsoleContext } from '../../server/console-route.ts'
import { invalidField } from '../../server/input.ts'
import { subjectChangesMax, subjectDeletionsMax, subjectIdList } from './subject-ids.ts'

const groupList = z.array(groupName).max(20).default([])

/** Adds subjects to groups and removes them from groups. A subject that cannot be changed is reported. */
export const changeGroups = defineWrite({
  path: '/projects/:projectId/subjects/groups',
  auditAction: 'subject.changeGroups',
  body: z
    .strictObject({
      subjectIds: subjectIdList(subjectChangesMax),
      addGroups: groupList,
      removeGroups: groupList,
    })
    .refine(
      ({ addGroups, removeGroups }) => new Set(addGroups).isDisjointFrom(new Set(removeGroups)),
      'must not contain a group in both addGroups and removeGroups',
    ),
  response: z.object({
    items: z.array(
      z.object({
        subjectId: z.string(),
        result: z.enum(['changed', 'unknown', 'refused']),
        message: z.string().optional(),
      }),
    ),
  }),
  handle: async (call, { tx }) => {
    const { subjectIds, addGroups, removeGroups } = call.body
    const { projectId, found } = await lockSubjects(tx, call, subjectIds)
    const items = await mapSequential(subjectIds, async (subjectId) => {
      const row = found.get(subjectId)
      if (!row) return { subjectId, result: 'unknown' as const }
      const message = await refusalOf(tx, () =>
        call.services.subjects.update(tx, row, { addGroups, removeGroups }),
      )
      return message === undefined
        ? { subjectId, result: 'changed' as const }
        : { subjectId, result: 'refused' as const, message }
    })
    const changed = items.filter(({ result }) => result === 'changed')
    const ids = changed.map(({ subjectId }) => subjectId)
    const detail = { subjects: ids.length, addGroups, removeGroups, subjectIds: ids }
    return { response: { items }, target: projectId, detail }
  },
})

/** The text that confirms the deletion of this many subjects. */
const deletionConfirmation = (count: number): string =>
  `delete ${count} ${count === 1 ? 'subject' : 'subjects'}`

/** Deletes subjects, in one transaction. Subjects that no longer exist are reported. */
export const removeSubjects = defineWrite({
  path: '/projects/:projectId/subjects/delete',
  auditAction: 'subject.deleteSeveral',
  body: z.strictObject({
    subjectIds: subjectIdList(subjectDeletionsMax),
    confirm: z.string().max(64),
  }),
  response: z.object({ records: z.array(deletionRecord), unknownIds: z.array(z.string()) }),
  handle: async (call, { tx }) => {
    const { subjects, maintenance } = call.services
    const { subjectIds, confirm } = call.body
    const expected = deletionConfirmation(subjectIds.length)
    if (confirm !== expected) throw invalidField('body.confirm', `must be: ${expected}`)
    const { projectId, galleryId, found } = await lockSubjects(tx, call, subjectIds)
    const rows = subjectIds.flatMap((subjectId) => found.get(subjectId) ?? [])
    const records = await mapSequential(rows, (row) => subjects.remove(tx, row))
    const unknownIds = subjectIds.filter((subjectId) => !found.has(subjectId))
    return {
      response: { records, unknownIds },
      target: projectId,
      detail: {
        subjects: records.length,
        deletionIds: records.map(({ deletionId }) => deletionId),
      },
      afterCommit: () => maintenance.purge(galleryId),
    }
  },
})

/** Locks the gallery of the project in the path, and finds subjects of it. */
async function lockSubjects(tx: Tx, call: ConsoleContext, subjectIds: readonly string[]) {
  const { subjects } = call.services
  const { galleryId, projectId } = await requireProject(tx, call)
  await lockGallery(tx, galleryId, 'exclusive')
  const rows = await subjects.findByIds(tx, galleryId, subjectIds)
  const found = new Map<string, SubjectRow>(rows.map((row) => [row.subjectId, row]))
  return { projectId, galleryId, found }
}

/**
 * Makes a change that rolls back alone if it fails.
 *
 * @returns the message of an expected failure; undefined after a success.
 */
export async function refusalOf(
  tx: Tx,
  change: () => Promise<unknown>,
): Promise<string | undefined> {
  try {
    await tx.savepoint(change)
    return undefined
  } catch (error) {
    if (error instanceof ActionError) return error.message
    throw error
  }
}
