import type { NamedSubject } from '../../format/subject-name.ts'
import { ShortId } from './short-id.tsx'

/** The name of a subject with its id as a tooltip; without a name, the short id with a copy button. */
export function SubjectName({ subject }: { readonly subject: NamedSubject }) {
  const name = subject.displayName ?? subject.externalId
  if (name === null || name === undefined)
    return <ShortId label="subject id" id={subject.subjectId} />
  return <span title={subject.subjectId}>{name}</span>
}
