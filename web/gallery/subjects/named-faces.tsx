import { Group, type GroupProps } from '@mantine/core'
import { subjectNameOf, type NamedSubject } from '../../format/subject-name.ts'
import { SubjectThumbnail, useCroppedFaces } from './subject-thumbnail.tsx'

type Props = GroupProps & {
  readonly projectId: string
  readonly subjects: readonly NamedSubject[]
}

/** The faces of subjects with their names, followed by the children. */
export function NamedFaces({ projectId, subjects, children, ...group }: Props) {
  const crops = useCroppedFaces(
    projectId,
    subjects.map(({ subjectId }) => subjectId),
  )
  return (
    <Group gap="sm" {...group}>
      {subjects.map((subject) => (
        <Group key={subject.subjectId} gap="xs" wrap="nowrap">
          <SubjectThumbnail
            projectId={projectId}
            subjectId={subject.subjectId}
            faceId={crops.get(subject.subjectId)?.[0]}
            sizePx={36}
          />
          {subjectNameOf(subject)}
        </Group>
      ))}
      {children}
    </Group>
  )
}
