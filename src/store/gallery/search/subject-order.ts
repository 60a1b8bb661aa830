import type { SubjectRow } from '../../gallery-schema.ts'

/** The order of a list of subjects; subjects with equal times are ordered by their ids. */
export type SubjectSort = {
  readonly by: 'createdAtUtc' | 'updatedAtUtc'
  readonly isDescending: boolean
}

/** The order of enrollment. */
export const enrollmentOrder: SubjectSort = { by: 'createdAtUtc', isDescending: false }

/** The position of a subject in a list: its time in the order of the list, and its id. */
export type SubjectCursor = { readonly atUtc: string; readonly subjectId: string }

/** Returns the position of a subject in a list. */
export function cursorOf(
  subject: Pick<SubjectRow, 'createdAtUtc' | 'updatedAtUtc' | 'subjectId'>,
  { by }: SubjectSort = enrollmentOrder,
): SubjectCursor {
  return { atUtc: subject[by], subjectId: subject.subjectId }
}
