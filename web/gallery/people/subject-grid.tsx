import { Text } from '@mantine/core'
import type { KeyboardEvent } from 'react'
import type { ConsoleSubject } from '../../api/responses.ts'
import { subjectNameOf } from '../../format/subject-name.ts'
import type { SubjectSelection } from '../subjects/selection.ts'
import { SelectionTick } from '../subjects/selection-column.tsx'
import { SubjectFace } from './subject-face.tsx'

type Props = {
  readonly projectId: string
  readonly subjects: readonly ConsoleSubject[]
  readonly selection: SubjectSelection
  readonly faceIdOf: (subjectId: string) => string | undefined
  readonly onOpen: (subjectId: string) => void
}

/** The subjects of a page as faces or initials. The arrow keys move between them. */
export function SubjectGrid({ projectId, subjects, selection, faceIdOf, onOpen }: Props) {
  return (
    <section aria-label="Subjects">
      <ul className="fg-people">
        {subjects.map((subject) => (
          <li key={subject.subjectId} className="fg-person" data-row>
            <button
              type="button"
              className="fg-person-open"
              data-open
              aria-label={`Open ${subjectNameOf(subject)}`}
              onKeyDown={moveInGrid}
              onClick={() => onOpen(subject.subjectId)}
            >
              <SubjectFace
                projectId={projectId}
                subject={subject}
                faceId={faceIdOf(subject.subjectId)}
              />
              <span className="fg-person-name">{subjectNameOf(subject)}</span>
            </button>
            <SelectionTick subject={subject} selection={selection} />
            <Text size="xs" c="dimmed" className="fg-person-note">
              {subject.groups.join(', ') || 'No group'}
            </Text>
          </li>
        ))}
      </ul>
    </section>
  )
}

/** Moves the focus to the neighbour in the direction of an arrow key. */
function moveInGrid(event: KeyboardEvent<HTMLElement>): void {
  const list = event.currentTarget.closest('ul')
  const buttons = [...(list?.querySelectorAll<HTMLElement>('[data-open]') ?? [])]
  const topOf = (element?: Element) => element?.getBoundingClientRect().top
  const columns = buttons.filter((button) => topOf(button) === topOf(buttons[0])).length
  const steps = { ArrowRight: 1, ArrowLeft: -1, ArrowDown: columns, ArrowUp: -columns }
  const step = steps[event.key as keyof typeof steps] as number | undefined
  if (step === undefined) return
  const next = buttons[buttons.indexOf(event.currentTarget) + step]
  if (!next) return
  event.preventDefault()
  next.focus()
}
