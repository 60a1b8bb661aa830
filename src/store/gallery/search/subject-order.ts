import type { SubjectRow } from '../../gallery-schema.ts'
import { searchTextOf } from './search-text.ts'

/** The order of a list of subjects; subjects with equal values are ordered by their ids. */
export type SubjectSort = {
  readonly by: 'createdAtUtc' | 'updatedAtUtc' | 'lastSeenAtUtc' | 'searchText'
  readonly isDescending: boolean
}

/** The order of enrollment. */
export const enrollmentOrder: SubjectSort = { by: 'createdAtUtc', isDescending: false }

/** The position of a subject in a list: its value in the order of the list, and its id. */
export type SubjectCursor = { readonly value: string; readonly subjectId: string }

/** Returns the position of a subject in a list. */
export function cursorOf(
  subject: Parameters<typeof searchTextOf>[0] &
    Pick<SubjectRow, 'createdAtUtc' | 'updatedAtUtc' | 'lastSeenAtUtc' | 'subjectId'>,
  { by }: SubjectSort = enrollmentOrder,
): SubjectCursor {
  const value = by === 'searchText' ? searchTextOf(subject) : subject[by]
  return { value, subjectId: subject.subjectId }
}
