import { Group } from '@mantine/core'
import type { ConsoleSubject } from '../../api/responses.ts'
import { subjectNameOf } from '../../format/subject-name.ts'
import type { Column } from '../../lists/data-table.tsx'
import type { SubjectSelection } from './selection.ts'
import './subjects.css'

/** The column in which subjects are ticked. */
export function selectionColumn(selection: SubjectSelection): Column<ConsoleSubject> {
  return {
    name: 'Select',
    renderCell: (subject) => <SelectionTick subject={subject} selection={selection} />,
  }
}

type TickProps = { readonly subject: ConsoleSubject; readonly selection: SubjectSelection }

/** The box that ticks a subject. */
export function SelectionTick({ subject, selection }: TickProps) {
  return (
    <label className="fg-tick-target">
      <input
        type="checkbox"
        className="fg-tick"
        aria-label={`Select ${subjectNameOf(subject)}`}
        checked={selection.isSelected(subject)}
        onChange={(event) => selection.onChange([subject], event.currentTarget.checked)}
      />
    </label>
  )
}

type Props = {
  readonly selection: SubjectSelection
  readonly subjects: readonly ConsoleSubject[]
}

/** Ticks all subjects of the page. */
export function SelectPage({ selection, subjects }: Props) {
  const count = subjects.filter((subject) => selection.isSelected(subject)).length
  if (subjects.length === 0) return null
  return (
    <Group component="label" className="fg-tick-target" gap="xs" w="fit-content">
      <input
        type="checkbox"
        className="fg-tick"
        checked={count === subjects.length}
        ref={(input) => {
          if (input) input.indeterminate = count > 0 && count < subjects.length
        }}
        onChange={(event) => selection.onChange(subjects, event.currentTarget.checked)}
      />
      Select all on this page
    </Group>
  )
}
