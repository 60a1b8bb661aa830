import { Anchor, type MantineSize } from '@mantine/core'
import { Link } from '@tanstack/react-router'
import { subjectNameOf, type NamedSubject } from '../../format/subject-name.ts'
import './subjects.css'

type Props = { readonly subject: NamedSubject; readonly size?: MantineSize }

/** The name of a subject. It opens its details on a page with the search parameter `subject`. */
export function SubjectLink({ subject, size = 'sm' }: Props) {
  return (
    <Anchor
      className="fg-name-link"
      size={size}
      fw={600}
      title={subject.subjectId}
      style={{ overflowWrap: 'anywhere' }}
      renderRoot={(props) => (
        <Link {...props} to="." search={(old) => ({ ...old, subject: subject.subjectId })} />
      )}
    >
      {subjectNameOf(subject)}
    </Anchor>
  )
}
