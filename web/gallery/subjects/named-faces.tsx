import { Group, type GroupProps, Radio, Stack } from '@mantine/core'
import type { ConsoleSubject } from '../../api/responses.ts'
import { shortIdOf, subjectNameOf, type NamedSubject } from '../../format/subject-name.ts'
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

type ChoiceProps = {
  readonly projectId: string
  readonly label: string
  readonly subjects: readonly ConsoleSubject[]
  /** The id of the selected one, or an empty text. */
  readonly value: string
  readonly onChange: (subjectId: string) => void
  readonly sizePx: number
  /** What the label states of a subject in addition to its id. */
  readonly remarkOf?: (subject: ConsoleSubject) => string
}

/** Selects one of some subjects by their faces and names. */
export function SubjectChoice(props: ChoiceProps) {
  const { projectId, label, subjects, value, onChange, sizePx, remarkOf } = props
  const crops = useCroppedFaces(
    projectId,
    subjects.map(({ subjectId }) => subjectId),
  )
  return (
    <Radio.Group label={label} value={value} onChange={onChange}>
      <Stack gap={4} mt={4}>
        {subjects.map((subject) => {
          const { subjectId } = subject
          const remarks = [shortIdOf(subjectId), ...(remarkOf ? [remarkOf(subject)] : [])]
          return (
            <Group key={subjectId} gap="sm" wrap="nowrap">
              <SubjectThumbnail
                projectId={projectId}
                subjectId={subjectId}
                faceId={crops.get(subjectId)?.[0]}
                sizePx={sizePx}
              />
              <Radio
                value={subjectId}
                label={`${subjectNameOf(subject)} (${remarks.join(', ')})`}
              />
            </Group>
          )
        })}
      </Stack>
    </Radio.Group>
  )
}
